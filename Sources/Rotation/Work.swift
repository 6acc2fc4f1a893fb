package import AppleClientSecret

/// What can be busy: at most one job runs for each.
package enum Resource: Hashable, Sendable {
    case configuration
    case key(KeyName)
    /// Minting for a client.
    case client(ClientName)
    /// A client's file in the state directory.
    case record(ClientName)
    case file(AbsolutePath)
    case action(ActionID)
    /// Whether an action could be carried out; with the state in the place of `%s`.
    case probe(ActionID)
    /// An action of `on_state_change`, by its name in the configuration.
    case stateChangeAction(ActionID)
    /// What the state directory keeps that is no client's.
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

/// What is to be done: data, without a secret's bytes, and complete, so that the hands that do it need nothing else.
package enum Work: Hashable, Sendable {
    case readConfiguration
    /// Read the configuration as a reload would, and do not adopt it.
    case checkConfiguration
    case readKey(KeyName, KeyConfiguration)
    /// Read what the state directory holds of a client.
    case recall(ClientName)
    /// Read a file back, judging signatures with these keys.
    case observe(FileSpec)
    case mint(ClientName, KeyName, Claims)
    case keep(ClientName, Record)
    /// Write these secrets into a file, all at once. Without `mayCreate` a file that is gone is a trouble.
    case publish(FileSpec, [Slot: SecretInfo], mayCreate: Bool)
    case run(Action, covering: [ClientName: Covered])
    /// Find out what would keep an action from being carried out, without doing it.
    case probe(Action)
    /// Read what people were told.
    case recallReportedStates
    case keepReportedStates(ReportedStates)
    /// Remove what is kept of other clients than these whose secrets had all expired before a moment, and look which of
    /// these former outputs, and of those clients', are none any more and still hold a secret.
    case tidyRecords(
        keeping: Set<ClientName>, expiredBefore: WallTime, former: Set<OutputPlace>, outputs: Set<OutputPlace>)
}

extension Work {
    var isObservation: Bool {
        if case .observe = self { true } else { false }
    }

    /// Whether it takes microseconds where nothing is wrong.
    package var isShort: Bool {
        switch self {
        case .recall, .observe, .mint: true
        default: false
        }
    }

    /// Whether it brings a secret that exists to where it counts. What is only to be found out can wait for that.
    package var isWrite: Bool {
        switch self {
        case .keep, .publish: true
        default: false
        }
    }
}

/// A client on whose behalf an action runs, and what the action is told of it.
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

/// Numbers that grow with every job, so that it can be told which of two came first.
package struct JobID: Hashable, Comparable, Sendable {
    package let number: UInt64

    package static func < (left: JobID, right: JobID) -> Bool {
        left.number < right.number
    }
}

/// What a job came to, one case for each kind of work.
package enum Outcome: Hashable, Sendable {
    case configuration(Configuration)
    /// The configuration's text does not pass; the lines that say why.
    case refused([String])
    /// The configuration's text would be adopted by a reload.
    case passes
    case key(KeyDigest)
    case recalled(Record)
    case observed(FileObservation)
    case minted(SecretInfo)
    case kept(Record)
    /// What the file held after it was written, read back.
    case published(FileObservation)
    case ran
    /// Nothing stands in an action's way, as far as can be told.
    case feasible
    case recalledReportedStates(ReportedStates)
    case keptReportedStates(ReportedStates)
    case tidied([OrphanedOutput])
}

/// What a file was seen to hold.
package struct FileObservation: Hashable, Sendable {
    /// Slots that are missing here are absent.
    package var slots: [Slot: SlotObservation]
    /// Whether an environment file holds lines besides the variables of ours.
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

/// What a slot was seen to hold.
package enum SlotObservation: Hashable, Sendable {
    case secret(SecretInfo)
    /// Something that is no client secret.
    case foreign

    var issued: SecretInfo? {
        if case .secret(let issued) = self { issued } else { nil }
    }
}

/// What the state directory keeps of a client.
package struct Record: Hashable, Sendable {
    package var current: SecretInfo?
    /// What each action was last run for.
    package var delivered: [ActionID: SecretInfo]
    /// Environment files that held other lines: one that has vanished since is not made again.
    package var shared: Set<AbsolutePath>
    /// Where the secret is published, and was before, as long as nobody was told that it may still lie there.
    package var outputs: Set<OutputPlace>
    /// Actions that are to run once more for what they were run for already.
    package var owed: Set<ActionID>
    /// When the client's key was last another one than before.
    package var keyChange: KeyChange?

    package init(
        current: SecretInfo? = nil, delivered: [ActionID: SecretInfo] = [:], shared: Set<AbsolutePath> = [],
        outputs: Set<OutputPlace> = [], owed: Set<ActionID> = [], keyChange: KeyChange? = nil
    ) {
        self.current = current
        self.delivered = delivered
        self.shared = shared
        self.outputs = outputs
        self.owed = owed
        self.keyChange = keyChange
    }
}

/// Names a question, so that its answer finds whoever asked.
package struct RequestID: Hashable, Sendable {
    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
    }
}

/// What came to be known.
package enum Input: Hashable, Sendable {
    case configured(Configuration)
    /// What lies there at the start would be refused, for these reasons: the daemon goes on with the configuration that was
    /// last adopted.
    case configuredAsBefore(Configuration, refused: [String])
    /// "Look again", nothing more.
    case changeNoticed(Resource)
    case finished(JobID, Result<Outcome, Failure>)
    /// Something that the daemon as a whole lacks until the opposite is told, and when that is tried again by itself.
    case faultRaised(Failure, nextAttempt: BootTime? = nil)
    /// What was lacking under this code is there now.
    case faultCleared(Failure.Code)
    /// What the state directory held may be gone, or another's: everything is to be kept again.
    case stateLost
    /// The wall clock was set.
    case clockSet
    /// Nil: nobody waits for the answer (a SIGHUP).
    case asked(Request, RequestID?)
    case stop
}

/// What one look at the world came to.
package struct Step: Sendable {
    package var start: [Job] = []
    package var wake = Wake()
    package var changes: [LogEvent] = []
    /// To be handed out before anything is started: a unit that is restarted asks for its secret at once.
    package var served: [Served] = []
    package var answers: [(RequestID, Answer)] = []
    /// Everything that was to be done is done: the loop may end.
    package var ended = false
}
