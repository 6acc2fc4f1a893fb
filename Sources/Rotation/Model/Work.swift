package import AppleClientSecret
internal import Failures

/// What a job works on: at most one job runs for each.
package enum Resource: Hashable, Sendable {
    case configuration
    case key(KeyName)
    /// Minting for a client.
    case client(ClientName)
    /// Whether Apple accepts a client's newest secret.
    case verification(ClientName)
    /// A client's file in the state directory.
    case record(ClientName)
    /// Where a client receives its secrets from.
    case source(ClientName)
    /// What the store holds of all places that concern this machine.
    case store
    /// A client's secret in the store, to be put there.
    case share(ClientName)
    /// How far the secret in force of a client is rolled out, in the store.
    case rollout(ClientName)
    /// What this machine says of itself in the store.
    case report
    /// What all machines say of themselves there.
    case fleet
    case file(AbsolutePath)
    /// A place behind an API.
    case target(TargetName)
    case action(ActionID)
    /// Whether an action could run; for `on_state_change` with the state in place of `%s`.
    case probe(ActionID)
    /// An action of `on_state_change`, by its name in the configuration.
    case stateChangeAction(ActionID)
    /// The content of the state directory that belongs to no client.
    case state
}

extension Resource {
    var isProbe: Bool {
        if case .probe = self { true } else { false }
    }

    var isStateChangeAction: Bool {
        if case .stateChangeAction = self { true } else { false }
    }
}

/// Work for the executor: data, without a secret's bytes, and complete, so that the executor needs nothing else.
package enum Work: Hashable, Sendable {
    case readConfiguration
    /// Read the configuration as a reload would, without adopting it.
    case checkConfiguration
    case readKey(KeyName, KeyConfiguration)
    /// Read a client's record from the state directory.
    case recall(ClientName)
    /// Read where a client receives its secrets from.
    case readSource(ClientName, FileSource)
    /// Read what these places of the store hold, in one request. They are sorted, and there is at least one.
    case readStore([StorePlace])
    /// Put a client's secret into the store, if its place was last changed at this revision (0: if nothing is there). Found
    /// to be there already, it was put. One that has failed may have been carried out all the same.
    case putInStore(ClientName, SecretInfo, at: StorePlace, ifAt: Int64)
    /// Put the rollout of a client's secret into the store, if it was last changed there at this revision (0: if there is
    /// none), and in the same transaction the secret, where it is given.
    case putRollout(ClientName, Rollout, at: StorePlace, ifAt: Int64, with: SecretPut?)
    /// Put this machine's report into the store, under its name there, as ``putInStore(_:_:at:ifAt:)`` does a secret.
    case putReport(HostReport, machine: String, ifAt: Int64)
    /// Read what all machines report of these clients.
    case readReports(of: Set<ClientIdentity>)
    /// Remove the report of a machine from the store, unless it was changed at another revision.
    case forgetReport(machine: String, ifAt: Int64)
    /// Read a file back.
    case observe(FileSpec)
    case mint(ClientName, KeyName, Claims)
    case keep(ClientName, Record)
    /// Ask whether Apple accepts a secret. A refusal, and that nothing is known, are failures.
    case verify(ClientName, SecretInfo)
    /// Write these secrets into a file, all at once. Without `mayCreate` a missing file is a failure.
    case publish(FileSpec, [Slot: SecretInfo], mayCreate: Bool)
    /// Put a client's secret into a place behind an API, and see whether it is there then.
    case push(ClientName, SecretInfo, to: PushOutput)
    /// See whether a place behind an API holds this secret of a client.
    case readTarget(ClientName, SecretInfo, at: PushOutput)
    case run(Action, covering: [ClientName: Covered])
    /// Find out what would keep an action from running, without running it.
    case probe(Action)
    /// Read which states were reported.
    case recallReportedStates
    case keepReportedStates(ReportedStates)
    /// Remove the records of other clients than these whose secrets all expired before a moment. Find the former
    /// outputs, given here or named by other clients' records, that are not among `outputs` and still hold a secret.
    case tidyRecords(
        keeping: Set<ClientName>, expiredBefore: WallTime, former: Set<OutputPlace>, outputs: Set<OutputPlace>)
}

extension Work {
    var isObservation: Bool {
        if case .observe = self { true } else { false }
    }

    /// Whether it takes microseconds unless something is wrong.
    package var isShort: Bool {
        switch self {
        case .recall, .readSource, .observe, .mint: true
        default: false
        }
    }

    /// Whether it writes an existing secret to its place; such jobs go before all others of their lane.
    package var isWrite: Bool {
        switch self {
        case .keep, .publish, .push, .putInStore, .putRollout: true
        default: false
        }
    }
}

/// A client for which an action runs, and what the action is passed about it.
package struct Covered: Hashable, Sendable {
    package let issued: SecretInfo
    /// In the configuration's order.
    package let outputs: [AbsolutePath]
}

/// A piece of work that was started.
package struct Job: Hashable, Sendable {
    package let id: JobID
    package let resource: Resource
    package let work: Work
    package let startedAt: BootTime
}

/// A number that grows with every job, so that of any two the earlier one is known.
package struct JobID: Hashable, Comparable, Sendable {
    package let number: UInt64

    static let first = JobID(number: 1)

    package static func < (left: JobID, right: JobID) -> Bool {
        left.number < right.number
    }
}

/// The result of a job, one case for each kind of work.
package enum Outcome: Hashable, Sendable {
    case configuration(Configuration)
    /// The configuration was refused; the lines say why.
    case refused([String])
    /// A reload would adopt the configuration on disk.
    case passes
    case key(KeyDigest)
    case recalled(Record)
    case source(SourceObservation)
    /// What each place held that was to be read, and the rollouts that were there.
    case storeRead([StorePlace: StoreObservation], rollouts: [StorePlace: RolloutObservation] = [:])
    case putInStore(StorePut)
    case rolloutPut(RolloutPut)
    case reportPut(ReportPut)
    /// By the names of the machines.
    case reportsRead([String: HostObservation])
    /// The report is gone, or is another one.
    case reportForgotten
    case observed(FileObservation)
    case minted(SecretInfo)
    case kept(Record)
    /// Apple accepts the secret.
    case accepted
    /// What the file held after it was written, read back.
    case published(FileObservation)
    /// The API said that it has taken the secret; verified when it was seen there, nil where the API does not show it.
    case pushed(verified: Bool?)
    /// Whether the API holds the secret; nil where it does not show it.
    case targetRead(holds: Bool?)
    case ran
    /// A project is being deployed again, which takes minutes: the action is to be run again, to see whether it is done.
    case deploying
    /// Nothing was found that would keep an action from running.
    case feasible
    case recalledReportedStates(ReportedStates)
    case keptReportedStates(ReportedStates)
    case tidied([OrphanedOutput])
}

/// What a file held when it was read.
package struct FileObservation: Hashable, Sendable {
    /// Slots missing here are absent from the file.
    package var slots: [Slot: SlotObservation]
    /// Whether an environment file holds lines besides our variables.
    package var otherLines: Bool
    /// Whether mode and group are what the configuration says.
    package var isAsConfigured: Bool
    package var exists: Bool

    package init(
        slots: [Slot: SlotObservation], otherLines: Bool = false, isAsConfigured: Bool = true, exists: Bool = true
    ) {
        self.slots = slots
        self.otherLines = otherLines
        self.isAsConfigured = isAsConfigured
        self.exists = exists
    }
}

/// What a source held when it was read.
package enum SourceObservation: Hashable, Sendable {
    case secret(SecretInfo)
    /// There is no file, or it is empty or has no such variable.
    case missing
    /// Something that is no client secret; what it is instead, without any of its bytes.
    case foreign(String)
    /// This machine may not see what it holds.
    case refused
}

/// What a slot held when its file was read.
package enum SlotObservation: Hashable, Sendable {
    case secret(SecretInfo)
    /// Something that is no client secret.
    case foreign

    var issued: SecretInfo? {
        if case .secret(let issued) = self { issued } else { nil }
    }
}

/// A client's record in the state directory.
package struct Record: Hashable, Sendable {
    package var current: SecretInfo?
    /// The newest secret, if Apple has not accepted it yet: not in force, unless it is also ``current``.
    package var candidate: SecretInfo?
    /// What Apple answered when it refused ``candidate`` twice; nil when it has not.
    package var refusal: String?
    /// The secret that each action last ran for.
    package var delivered: [ActionID: SecretInfo]
    /// Environment files that held other lines: one that has vanished since is not created again.
    package var shared: Set<AbsolutePath>
    /// Where the secret is published, and former places until those that still hold it were reported.
    package var outputs: Set<OutputPlace>
    /// What was last put into each place behind an API.
    package var pushed: [PushOutput: SecretInfo]
    /// Actions that must run once more for a secret that they already ran for.
    package var owed: Set<ActionID>
    /// The last change of the client's key to another one.
    package var keyChange: KeyChange?

    package init(
        current: SecretInfo? = nil, candidate: SecretInfo? = nil, refusal: String? = nil,
        delivered: [ActionID: SecretInfo] = [:], shared: Set<AbsolutePath> = [],
        outputs: Set<OutputPlace> = [], owed: Set<ActionID> = [], keyChange: KeyChange? = nil,
        pushed: [PushOutput: SecretInfo] = [:]
    ) {
        self.pushed = pushed
        self.current = current
        self.candidate = candidate
        self.refusal = refusal
        self.delivered = delivered
        self.shared = shared
        self.outputs = outputs
        self.owed = owed
        self.keyChange = keyChange
    }
}

/// Identifies a request, so that its answer reaches whoever made it.
package struct RequestID: Hashable, Sendable {
    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// An input to the core.
package enum Input: Hashable, Sendable {
    indirect case configured(Configuration)
    /// The configuration on disk was refused at the start, for these reasons: the daemon uses the one last adopted.
    indirect case configuredAsBefore(Configuration, refused: [String])
    /// A resource may have changed: read it again.
    case changeNoticed(Resource)
    /// Whether the store tells of changes (as a notice of ``Resource/store``) from now on: then it is read less often.
    case storeWatched(Bool)
    /// When the certificate expires with which this machine reaches the store; nil where there is none.
    case storeCertificate(expiresAt: WallTime?)
    case finished(JobID, Result<Outcome, Failure>)
    /// A fault of the daemon as a whole, until ``faultCleared(_:)``, and when the daemon tries again by itself.
    case faultRaised(Failure, nextAttempt: BootTime? = nil)
    /// The fault with this code is gone.
    case faultCleared(Failure.Code)
    /// The state directory's content may be gone or replaced by another: everything must be written to it again.
    case stateLost
    /// The wall clock was set.
    case clockSet
    /// A request; no id when nobody waits for the answer (a SIGHUP).
    case asked(Request, RequestID?)
    case stop
}

/// The result of one plan: what to do now.
package struct Step: Sendable {
    package var start: [Job] = []
    package var wake = Wake()
    package var changes: [LogEvent] = []
    /// To be served before any job starts: a unit that is restarted requests its secret at once.
    package var served: [Served] = []
    package var answers: [(RequestID, Answer)] = []
    /// Whether everything is done: the loop may end.
    package var ended = false
}
