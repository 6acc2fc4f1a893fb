package import AppleClientSecret
internal import Failures

/// Why a state is not ok: the failure, the client, since when, and when it is tried again.
package struct Reason: Hashable, Sendable {
    package var failure: Failure
    /// The client that it affects; nil when it concerns the daemon as a whole.
    package var client: ClientName?
    package var since: WallTime
    /// When the daemon tries it again; nil when it does not.
    package var nextAttempt: WallTime?

    package init(failure: Failure, client: ClientName? = nil, since: WallTime, nextAttempt: WallTime? = nil) {
        self.failure = failure
        self.client = client
        self.since = since
        self.nextAttempt = nextAttempt
    }
}

/// A reason in words, as a status document has it.
package struct ReasonReport: Hashable, Sendable {
    /// The whole reason on one line.
    package var sentence: String
    /// Its parts; nil from a daemon that sends none.
    package var failure: FailureReport?

    package init(sentence: String, failure: FailureReport?) {
        self.sentence = sentence
        self.failure = failure
    }
}

/// A failure in words.
package struct FailureReport: Hashable, Sendable {
    /// A name that never changes, such as `directory_missing`.
    package var code: String
    /// The failure and its place.
    package var message: String
    package var since: WallTime
    package var nextAttempt: WallTime?
    /// The remedy, with the command at its end; nil when none is known.
    package var remedy: String?
    /// The remedy's command in POSIX's sh; nil if the operator has to decide something first.
    package var command: String?

    package init(
        code: String, message: String, since: WallTime, nextAttempt: WallTime?, remedy: String?, command: String?
    ) {
        self.code = code
        self.message = message
        self.since = since
        self.nextAttempt = nextAttempt
        self.remedy = remedy
        self.command = command
    }
}
