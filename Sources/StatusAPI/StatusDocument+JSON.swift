import AppleClientSecret
import FoundationEssentials

// Members stand in the order in which the documentation shows them, so that the text reads alike everywhere.

extension StatusDocument {
    /// The document on one line, without a line break at its end.
    package var json: String {
        JSONText.object(
            [
                ("version", .string(version)), ("state", .string(state)), ("reason", .text(reason)),
            ] + StatusDocument.Failure.member(failure) + [
                ("started_at", .moment(startedAt)),
                (
                    "config",
                    .object([
                        ("path", .string(config.path)), ("loaded_at", .moment(config.loadedAt)),
                        ("error", .text(config.error)),
                    ])
                ),
                ("clients", .array(clients.map(\.members))),
            ]
        ).rendered
    }

    /// The document that a daemon sent.
    package init(json: [UInt8]) throws(ClientError) {
        self = try decoded(json)
    }
}

extension StatusDocument.Failure {
    /// The member `failure`; none when it is nil.
    fileprivate static func member(_ failure: StatusDocument.Failure?) -> [(name: String, value: JSONText)] {
        failure.map { [("failure", $0.members)] } ?? []
    }

    private var members: JSONText {
        .object([
            ("code", .string(code)), ("message", .string(message)), ("since", .moment(since)),
            ("next_attempt", .moment(nextAttempt)), ("remedy", .text(remedy)), ("command", .text(command)),
        ])
    }
}

extension StatusDocument.Client {
    var members: JSONText {
        .object(
            [
                ("name", .string(name)), ("client_id", .string(clientID)), ("team_id", .string(teamID)),
                ("key_id", .string(keyID)), ("state", .string(state)), ("reason", .text(reason)),
            ] + StatusDocument.Failure.member(failure) + [
                ("issued_at", .moment(issuedAt)),
                ("expires_at", .moment(expiresAt)),
                ("delivered_expires_at", .moment(deliveredExpiresAt)), ("renew_at", .moment(renewAt)),
                ("fingerprint", .text(fingerprint)), ("renewals", .number(renewals)),
                ("consecutive_failures", .number(consecutiveFailures)), ("last_error", .text(lastError)),
                ("delivered", .bool(delivered)),
                (
                    "outputs",
                    .array(
                        outputs.map { output in
                            .object([
                                ("path", .string(output.path)), ("format", .string(output.format)),
                                ("state", .string(output.state)), ("written_at", .moment(output.writtenAt)),
                                ("error", .text(output.error)),
                            ])
                        })
                ),
                (
                    "actions",
                    .array(
                        actions.map { action in
                            .object([
                                ("action", .string(action.action)), ("state", .string(action.state)),
                                ("ran_at", .moment(action.ranAt)), ("error", .text(action.error)),
                            ])
                        })
                ),
            ])
    }
}
