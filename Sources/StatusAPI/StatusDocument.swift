package import AppleClientSecret

/// What `GET /v1/status` answers with, for those who write it and those who read it.
package struct StatusDocument: Hashable, Sendable {
    package var version: String
    /// `ok`, `degraded` or `critical`.
    package var state: String
    /// The worst reason in words; nil when everything is ok.
    package var reason: String?
    /// The same in its parts.
    package var failure: Failure?
    package var startedAt: WallTime
    package var config: Config
    /// In the order of their names.
    package var clients: [Client]

    /// Which configuration is in force.
    package struct Config: Hashable, Sendable {
        package var path: String
        package var loadedAt: WallTime
        /// Why the file that lies there now would not be accepted.
        package var error: String?
    }

    /// One client and its secret; what `GET /v1/clients/NAME` answers with.
    package struct Client: Hashable, Sendable {
        package var name: String
        package var clientID: String
        package var teamID: String
        package var keyID: String
        package var state: String
        package var reason: String?
        /// The reason in its parts.
        package var failure: Failure?
        /// The secret's claim `iat`.
        package var issuedAt: WallTime?
        package var expiresAt: WallTime?
        package var deliveredExpiresAt: WallTime?
        package var renewAt: WallTime?
        package var fingerprint: String?
        package var renewals: Int
        package var consecutiveFailures: Int
        package var lastError: String?
        package var delivered: Bool
        package var outputs: [Output]
        package var actions: [Action]
    }

    /// Why something is not ok.
    package struct Failure: Hashable, Sendable {
        /// A name that never changes, such as `directory_missing`.
        package var code: String
        /// What happened, to what.
        package var message: String
        package var since: WallTime
        package var nextAttempt: WallTime?
        /// What helps, the command at its end; nil when nothing is known to.
        package var remedy: String?
        /// The command alone, for POSIX's sh; nil where there is something to be decided first.
        package var command: String?
    }

    /// One output of a client.
    package struct Output: Hashable, Sendable {
        package var path: String
        /// `raw`, `env` or `json`.
        package var format: String
        /// `ok`, `pending`, `failed`, `contested` or `not_responding`.
        package var state: String
        package var writtenAt: WallTime?
        package var error: String?
    }

    /// One action of a client.
    package struct Action: Hashable, Sendable {
        package var action: String
        /// `ok`, `pending` or `failed`.
        package var state: String
        package var ranAt: WallTime?
        package var error: String?
    }
}
