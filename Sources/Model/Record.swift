package import AppleClientSecret
package import Failures

/// A client's record in the state directory.
package struct Record: Hashable, Sendable {
    package var current: SecretInfo?
    /// The newest secret, if Apple has not accepted it yet: not the current one, unless it is also ``current``.
    package var candidate: SecretInfo?
    /// Apple's answer when it refused ``candidate`` twice; nil when it has not.
    package var refusal: String?
    /// The secret that each action last ran for.
    package var delivered: [ActionID: SecretInfo] = [:]
    /// Environment files that held other lines: one that has vanished since is not created again.
    package var shared: Set<AbsolutePath> = []
    /// The places where the secret is published.
    package var outputs: Set<OutputPlace> = []
    /// The secret last put into each place behind an API.
    package var pushed: [PushOutput: SecretInfo] = [:]
    /// The content of places that APIs have shown last.
    package var shown: [PushOutput: PushPlaceContent] = [:]
    /// Why reading or writing places behind APIs failed, if it has not succeeded since.
    package var failing: [PushOutput: PlaceFailure] = [:]
    /// Actions that must run although they may have run for the secret: they failed, or something else was read.
    package var owed: Set<ActionID> = []
    /// Why actions that are owed failed when they last ran, as status showed it.
    package var failed: [ActionID: String] = [:]
    /// When files were last repaired, the oldest first: single runs and a start find out by this which are contested.
    package var repairs: [AbsolutePath: [WallTime]] = [:]
    /// The last change of the client's key to another one.
    package var keyChange: KeyChange?
    /// When the pending actions may run, by this machine's turn among those that received the secret. Nil if none are pending,
    /// or they wait for no turn.
    package var turn: WallTime?
    /// Whether a rollout was ever seen at the place of ``current`` in ``store``.
    package var wasRolledOut = false
    /// The machines that report the client there, by ``MachineNumber``, if its secrets are rolled out here; none if that is
    /// not known.
    package var fleet: Set<UInt32> = []
    /// Whether the rollout of ``current`` is held.
    package var isRolloutHeld = false
    /// The ``SecretStore/place`` that these three are about; nil also in a record of an earlier version.
    package var store: String?

    package init(current: SecretInfo? = nil) {
        self.current = current
    }
}

extension Record {
    /// What counts of it once its client is configured again. Other clients may have given its applications other secrets since,
    /// and put others into its places behind APIs.
    package var afterAbsence: Record {
        var record = self
        record.delivered = delivered.values.firstToExpire.map { [.unknown: $0] } ?? [:]
        record.pushed = [:]
        record.shown = [:]
        record.failing = [:]
        return record
    }

    /// The secret that a place behind an API holds, as far as is known; nil if that is none, or another one.
    package func held(at output: PushOutput) -> SecretInfo? { pushed[output]?.unless(shown[output]) }

    /// Why an API did not do what it was asked.
    package struct PlaceFailure: Hashable, Sendable {
        package let code: FailureCode
        /// At most 300 characters.
        package let detail: String?

        package init(_ code: FailureCode, _ detail: String?) {
            self.code = code
            self.detail = detail.map { String($0.prefix(300)) }
        }
    }
}

extension SecretInfo {
    /// This secret, unless an API has shown that its place holds something else.
    package func unless(_ shown: PushPlaceContent?) -> SecretInfo? {
        switch shown {
        case .nothing, .unusable: nil
        case .secret(let expiry): expiry == expiresAt ? self : nil
        case .something, nil: self
        }
    }
}
