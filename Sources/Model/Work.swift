package import AppleClientSecret
internal import Failures

/// Work for the executor: data, without a secret's bytes, and complete, so that the executor needs nothing else.
package enum Work: Hashable, Sendable {
    case readConfiguration
    /// Read the configuration as a reload would, without adopting it.
    case checkConfiguration
    case readKey(KeyName, KeyConfiguration)
    /// Read a client's record from the state directory, with the entries of other clients' records for its outputs.
    case recall(ClientName, publishedAt: Set<OutputPlace>)
    /// Read where a client receives its secrets from.
    case readSource(ClientName, FileSource)
    /// Read these places of the store, in one request. They are sorted, and there is at least one.
    case readStore([StorePlace])
    /// Put a client's secret into the store, if its place was last changed at this revision (0: if nothing is there). Found
    /// to be there already, it was put. One that has failed may still have been carried out.
    case putInStore(ClientName, SecretInfo, at: StorePlace, ifAt: Int64)
    /// Put the rollout of a client's secret into the store, if it was last changed there at this revision (0: if there is
    /// none). A given secret is put in the same transaction.
    case putRollout(ClientName, Rollout, at: StorePlace, ifAt: Int64, with: SecretPut?)
    /// Put this machine's report into the store, under its name there, as ``putInStore(_:_:at:ifAt:)`` does a secret.
    case putReport(MachineReport, machine: String, ifAt: Int64)
    /// Read all machines' reports of these clients.
    case readReports(of: Set<ClientIdentity>)
    /// Remove the report of a machine from the store, unless it was changed at another revision.
    case forgetReport(machine: String, ifAt: Int64)
    /// Read a file back.
    case observe(FileSpec)
    case mint(ClientName, KeyName, Claims)
    case keep(ClientName, Record)
    /// Ask whether Apple accepts a secret. A refusal, and that nothing is known, are failures.
    case verify(ClientName, SecretInfo)
    /// Write these secrets into a file, all at once. Without `overWriters` it is a failure while another program has the file
    /// open for writing. Without `mayCreate` it is a failure when a shared file is missing or was emptied of other lines, and
    /// when another file holds anything but a secret.
    case publish(FileSpec, [FileSlot: SecretInfo], mayCreate: Bool, overWriters: Bool)
    /// Put a client's secret into a place behind an API, and see whether it is there then. In the same request go the
    /// secrets of other targets that belong into the same document; whether they are there is not seen.
    case push(ClientName, SecretInfo, to: PushOutput, with: [TargetName: SecretInfo])
    /// See whether a place behind an API holds this secret of a client.
    case readTarget(ClientName, SecretInfo, at: PushOutput)
    case run(Action, covering: [ClientName: CoveredClient])
    /// Find problems that would keep an action from running, without running it.
    case probe(Action)
    /// Read which states were reported.
    case recallReportedStates
    case keepReportedStates(ReportedStates)
    /// Forget what applications of other clients than these were given, and remove their records whose secrets all expired before
    /// a moment. Find those of the removed outputs that are not among `outputs` and still hold a secret.
    case tidyRecords(
        keeping: Set<ClientName>, expiredBefore: WallTime, removed: Set<OutputPlace>, outputs: Set<OutputPlace>)
    /// Write the daemon's metrics into this file.
    indirect case writeMetrics(AbsolutePath, MetricsFileContent)
    /// Remove this file, if it holds metrics of this program.
    case removeMetrics(AbsolutePath)
}

extension Work {
    /// The secrets whose bytes it needs.
    package var secrets: [SecretInfo] {
        switch self {
        case .putInStore(_, let secret, _, _), .verify(_, let secret), .readTarget(_, let secret, _): [secret]
        case .putRollout(_, _, _, _, let put): [put?.secret].compactMap { $0 }
        case .publish(_, let secrets, _, _): Array(secrets.values)
        case .push(_, let secret, _, let others): [secret] + others.values
        case .keep(_, let record): [record.current, record.candidate].compactMap { $0 }
        default: []
        }
    }

    package var isObservation: Bool {
        if case .observe = self { true } else { false }
    }

    /// Whether it saves the daemon's state, which is also done while it stops.
    package var isKeeping: Bool {
        switch self {
        case .keep, .keepReportedStates, .writeMetrics: true
        default: false
        }
    }

    package var isReadOfTarget: Bool {
        if case .readTarget = self { true } else { false }
    }
}
