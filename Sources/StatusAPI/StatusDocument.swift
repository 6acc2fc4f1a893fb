package import AppleClientSecret

/// The answer to `GET /v1/status`, for the daemon that writes it and the commands that read it.
package struct StatusDocument: Hashable, Sendable {
    package var version: String
    /// `ok`, `degraded` or `critical`.
    package var state: String
    /// The worst reason in words; nil when everything is ok.
    package var reason: String?
    /// The worst reason in its parts.
    package var failure: Failure?
    package var startedAt: WallTime
    package var config: Config
    /// In the order of their names.
    package var clients: [Client]

    /// Which configuration is in force.
    package struct Config: Hashable, Sendable {
        package var path: String
        package var loadedAt: WallTime
        /// Why the file as it is now would be refused; nil when it would be accepted.
        package var error: String?
    }

    /// One client and its secret; the answer to `GET /v1/clients/NAME`.
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
        /// What happened, and to what.
        package var message: String
        package var since: WallTime
        package var nextAttempt: WallTime?
        /// The remedy, with the command at its end; nil when none is known.
        package var remedy: String?
        /// The remedy's command, for POSIX's sh; nil where the operator has to decide something first.
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
