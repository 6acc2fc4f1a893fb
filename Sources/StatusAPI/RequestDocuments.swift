package import AppleClientSecret
import Rotation

/// The outcomes of a renewal, client by client: the answer to a `POST` that renews, and part of the problem when one of
/// them failed.
package struct RenewalReport: Hashable, Sendable {
    package var outcomes: [Outcome]

    /// The outcome for one client.
    package struct Outcome: Hashable, Sendable {
        package var client: String
        /// `renewed`, `delivered`, `untouched` or `failed`.
        package var result: String
        /// These three describe the secret of a client that was renewed or delivered.
        package var fingerprint: String?
        package var issuedAt: WallTime?
        package var expiresAt: WallTime?
        /// Why the client failed; nil for the other results.
        package var error: String?
    }

    package init(outcomes: [Outcome]) {
        self.outcomes = outcomes
    }

    /// The document on one line, without a line break at its end.
    package var json: String {
        JSONText.object([("outcomes", members)]).rendered
    }

    var members: JSONText {
        .array(
            outcomes.map { outcome in
                .object([
                    ("client", .string(outcome.client)), ("result", .string(outcome.result)),
                    ("fingerprint", .text(outcome.fingerprint)), ("issued_at", .moment(outcome.issuedAt)),
                    ("expires_at", .moment(outcome.expiresAt)), ("error", .text(outcome.error)),
                ])
            })
    }
}

extension RenewalReport: Decodable {}

extension RenewalReport.Outcome: Decodable {
    private enum Key: String, CodingKey {
        case client
        case result
        case fingerprint
        case issuedAt = "issued_at"
        case expiresAt = "expires_at"
        case error
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        client = try members.decode(String.self, forKey: .client)
        result = try members.decode(String.self, forKey: .result)
        fingerprint = try members.decodeIfPresent(String.self, forKey: .fingerprint)
        issuedAt = try members.momentIfPresent(.issuedAt)
        expiresAt = try members.momentIfPresent(.expiresAt)
        error = try members.decodeIfPresent(String.self, forKey: .error)
    }

    init(_ outcome: RenewalOutcome) {
        client = outcome.client.description
        switch outcome.result {
        case .renewed(let issued), .delivered(let issued):
            result = if case .renewed = outcome.result { "renewed" } else { "delivered" }
            fingerprint = issued.fingerprint.description
            issuedAt = issued.issuedAt
            expiresAt = issued.expiresAt
        case .untouched:
            result = "untouched"
        case .failed(let words):
            result = "failed"
            error = words
        }
    }
}

/// The answer to a reload whose configuration was adopted.
package struct ReloadReport: Hashable, Sendable, Decodable {
    /// The parts of the configuration that cannot be served, in words ready to show.
    package var unserved: [String]
    /// The files that are no longer outputs and hold a valid secret, in words ready to show.
    package var orphaned: [String]

    /// The document on one line, without a line break at its end.
    package var json: String {
        JSONText.object([
            ("unserved", .array(unserved.map(JSONText.string))), ("orphaned", .array(orphaned.map(JSONText.string))),
        ]).rendered
    }
}
