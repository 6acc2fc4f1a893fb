import AppleClientSecret
import Failures
import Keys
import Linux
import Model
import Outputs
import State

/// The data in the state directory.
extension Executor {
    func recall(_ client: ClientName, publishedAt places: Set<OutputPlace>) throws(Failure) -> Outcome {
        let (record, isOpen) = try read(
            { state throws(Failure) in
                try unlessSetAside(client) { () throws(Failure) in
                    try state.recall(client, publishedAt: places)
                }
            }, orIn: { files throws(Failure) in try files.recall(client, publishedAt: places) })
        let known = remember(record)
        return isOpen ? .recalled(known) : .recalledUnkept(known)
    }

    func recallReportedStates() throws(Failure) -> Outcome {
        let (states, _) = try read(
            { state throws(Failure) in
                try unlessSetAside(nil) { () throws(Failure) in try state.recallReportedStates() }
            }, orIn: { files throws(Failure) in try files.readReportedStates() })
        return .recalledReportedStates(states ?? ReportedStates())
    }

    /// What identifies this daemon in its reports to others.
    func instance() throws(Failure) -> String {
        let (known, _) = try read(
            { state throws(Failure) in try state.instance() },
            orIn: { files throws(Failure) in try files.readInstance() })
        return known ?? ""
    }

    /// A value in the state directory. In one that cannot be opened, only a value that is found counts.
    private func read<Value>(
        _ open: (StateDirectory) throws(Failure) -> Value?, orIn files: (StateReader) throws(Failure) -> Value?
    ) throws(Failure) -> (value: Value?, isOpen: Bool) {
        let directory: StateDirectory
        do throws(Failure) { directory = try state.get() } catch {
            guard let unopened = state.unopened, let value = try? files(unopened) else { throw error }
            return (value, false)
        }
        return (try open(directory), true)
    }

    /// The value in the state directory. Nil also for an unusable record, which was set aside: a retry would find nothing, and
    /// the outputs still hold the lost data.
    private func unlessSetAside<Value>(
        _ client: ClientName?, _ read: () throws(Failure) -> Value?
    ) throws(Failure) -> Value? {
        do throws(Failure) {
            return try read()
        } catch {
            guard error.code == .stateDamaged || error.code == .stateNewer else { throw error }
            log.note(.recordSetAside(client, error))
            return nil
        }
    }

    /// Caches a record's secrets and public keys.
    func remember(_ kept: RecordWithSecrets?) -> Record {
        guard let kept else { return Record() }
        for kept in [kept.current, kept.candidate].compactMap({ $0 }) {
            if let spki = kept.signerKey { keyring.remember(spki: spki) }
            secretCache.put(kept.secret)
        }
        services.pusher.recall(kept.record.pushed.keys)
        return kept.record
    }

    func keep(_ record: Record, of client: ClientName) throws(Failure) -> Outcome {
        let state = try state.get()
        try state.keep(
            RecordWithSecrets(record, current: try recorded(record.current), candidate: try recorded(record.candidate)),
            of: client)
        return .kept(record)
    }

    private func recorded(_ issued: SecretInfo?) throws(Failure) -> RecordedSecret? {
        guard let issued else { return nil }
        return RecordedSecret(
            Secret(token: try secret(issued).token, issued: issued),
            signerKey: issued.signer.flatMap(keyring.publicKey)?.spki)
    }

    /// Keeps the observations of the clock, on a worker.
    func keep(_ run: ClockRun) {
        clockToKeep.put(run)
        try? pool.run(in: .state) { [state, clockToKeep] in clockToKeep.take { try? state.get().keep($0) } }
    }

    func keep(_ states: ReportedStates) throws(Failure) -> Outcome {
        try state.get().keep(states)
        return .keptReportedStates(states)
    }

    func tidy(
        _ clients: Set<ClientName>, _ moment: WallTime, _ removed: Set<OutputPlace>, _ outputs: Set<OutputPlace>
    ) -> Outcome {
        // Without a state directory there is nothing to tidy.
        (try? state.get())?.tidy(keeping: clients, expiredBefore: moment)
        return .tidied(orphans(among: removed, excluding: outputs))
    }
}
