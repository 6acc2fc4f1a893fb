package import AppleClientSecret

/// What a server answered, as the network program hands it on.
package struct HTTPAnswer: Hashable, Sendable {
    /// The status of the answer; 200 for what was asked.
    package let status: Int
    /// At most ``longestBody`` bytes, whatever they are.
    package let body: [UInt8]
    /// The server's clock (`Date:`); nil where it does not tell.
    package let date: WallTime?

    /// In bytes: Apple's key set has some 2 KiB, a token response 3 KiB.
    package static let longestBody = 1 << 20

    package init(status: Int, body: [UInt8], date: WallTime?) {
        self.status = status
        self.body = body
        self.date = date
    }
}

/// Why there is no answer.
package struct TransportFailure: Error, Hashable, Sendable {
    package let kind: Kind
    /// What the library for the network says of it, on one line.
    package let detail: String
    /// Whether the server may have got the request, wholly or in part.
    package let mayBeSent: Bool

    /// Raw values stand in JSON.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case nameNotResolved = "name_not_resolved"
        case notConnected = "not_connected"
        case timedOut = "timed_out"
        case certificateRefused = "certificate_refused"
        case tlsFailed = "tls_failed"
        case proxyFailed = "proxy_failed"
        case connectionLost = "connection_lost"
        case answerTooLong = "answer_too_long"
        case caFileUnusable = "ca_file_unusable"
        /// Anything else, as ``TransportFailure/detail`` tells.
        case failed
    }

    package init(_ kind: Kind, _ detail: String, mayBeSent: Bool = true) {
        self.kind = kind
        self.detail = detail
        self.mayBeSent = mayBeSent
    }
}

extension TransportFailure {
    /// What happened and what helps, as a sentence without its end.
    package var words: String {
        let more = detail.isEmpty ? "" : " (\(detail))"
        return switch kind {
        case .nameNotResolved: "the server's name cannot be resolved\(more); see whether this machine has a network"
        case .notConnected: "the server cannot be reached\(more); a firewall or a missing proxy may be in the way"
        case .timedOut: "the server did not answer in time\(more)"
        case .certificateRefused:
            "the server's certificate is not trusted\(more); see this machine's clock and its ca-certificates, and "
                + "whether something in between answers in the server's name"
        case .tlsFailed: "no encrypted connection came about\(more)"
        case .proxyFailed: "the proxy did not connect\(more); see https_proxy in the environment"
        case .connectionLost: "the connection ended before the answer did\(more)"
        case .answerTooLong: "the answer is longer than any of Apple's\(more)"
        case .caFileUnusable:
            "the file with the certificates cannot be used\(more); name one with PEM certificates in it, which begin with "
                + "BEGIN CERTIFICATE"
        case .failed: "the request failed\(more)"
        }
    }
}

extension HTTPAnswer {
    /// The same answer with nothing in its body but the error of OAuth that it is, if it is one: other members, and other
    /// answers, may be what was sent.
    ///
    /// - Parameter redacted: a text without what must not be shown.
    package func reduced(_ redacted: (String) -> String) -> HTTPAnswer {
        guard let error = OAuthError(self) else { return HTTPAnswer(status: status, body: [], date: date) }
        var members: [(String, JSONText)] = [("error", .string(redacted(error.code)))]
        if let description = error.description { members.append(("error_description", .string(redacted(description)))) }
        return HTTPAnswer(status: status, body: JSONText.object(members).bytes, date: date)
    }

    /// The JSON text in which the network program writes what came of a request.
    package static func wire(_ result: Result<HTTPAnswer, TransportFailure>) -> JSONText {
        switch result {
        case .success(let answer):
            .object([
                ("status", .number(answer.status)),
                ("date", answer.date.map { .number(Int($0.secondsSinceEpoch)) } ?? .null),
                ("body", .string(String(decoding: answer.body, as: UTF8.self))),
            ])
        case .failure(let failure):
            .object([
                ("failure", .string(failure.kind.rawValue)), ("detail", .string(failure.detail)),
                ("may_be_sent", .bool(failure.mayBeSent)),
            ])
        }
    }

    /// Reads what ``wire(_:)`` wrote; nil for anything else.
    package static func read(wire bytes: [UInt8]) -> Result<HTTPAnswer, TransportFailure>? {
        guard let json = try? JSONValue(bytes) else { return nil }
        if let kind = json["failure"]?.text.flatMap(TransportFailure.Kind.init) {
            return .failure(
                TransportFailure(kind, json["detail"]?.text ?? "", mayBeSent: json["may_be_sent"] != .bool(false)))
        }
        guard let status = json["status"]?.whole, let body = json["body"]?.text else { return nil }
        let date = json["date"]?.whole.map(WallTime.init(secondsSinceEpoch:))
        return .success(HTTPAnswer(status: Int(clamping: status), body: Array(body.utf8), date: date))
    }
}
