package import AppleClientSecret
package import Failures

extension TransportFailure {
    /// What happened and what helps, as a sentence without its end.
    ///
    /// - Parameter quoted: what the library says as it is shown; a server may have chosen words of it.
    package func words(_ quoted: (String) -> String) -> String {
        let more = detail.isEmpty ? "" : " (\(quoted(detail)))"
        return switch kind {
        case .nameNotResolved: "the server's name cannot be resolved\(more); check this machine's network"
        case .notConnected: "the server cannot be reached\(more); check the firewall and whether a proxy is needed"
        case .timedOut: "the server did not answer in time\(more)"
        case .certificateRefused:
            "the server's certificate is not trusted\(more); check this machine's clock and its ca-certificates, and "
                + "whether a proxy in between answers with its own certificate"
        case .tlsFailed: "the encrypted connection failed\(more)"
        case .proxyFailed: "the proxy did not connect\(more); check https_proxy in the environment"
        case .connectionLost: "the connection ended before the answer did\(more)"
        case .answerTooLong: "the answer is longer than any of Apple's\(more)"
        case .notHTTP: "the server's answer is not HTTP/1.1\(more); check its address and port"
        case .caFileUnusable:
            "the file with the certificates cannot be used\(more); name one with PEM certificates in it, which begin with "
                + "BEGIN CERTIFICATE"
        case .failed: "the request failed\(more)"
        }
    }
}

extension HTTPAnswer {
    /// The same answer with nothing in its body but the error of OAuth that it is, if it is one: other members, and other
    /// answers, may be what was sent. Code that looks at the body for more than that has to do so before.
    ///
    /// - Parameter redacted: a text without what must not be shown.
    package func reduced(_ redacted: (String) -> String) -> HTTPAnswer {
        guard let error = OAuthError(self)?.redacted(redacted) else {
            let isEmpty = !isBodyLeftOut && body.allSatisfy(\.isASCIISpace)
            return HTTPAnswer(status: status, body: [], date: date, isBodyLeftOut: !isEmpty)
        }
        var members: [(String, JSONText)] = [("error", .string(error.code))]
        if let description = error.description { members.append(("error_description", .string(description))) }
        return HTTPAnswer(status: status, body: JSONText.object(members).bytes, date: date)
    }
}

/// What came of a request, as the network program writes it.
package struct RequestResult: Hashable, Sendable {
    package let result: Result<HTTPAnswer, TransportFailure>

    package init(_ result: Result<HTTPAnswer, TransportFailure>) {
        self.result = result
    }
}

extension RequestResult: JSONDocument {
    package init(_ result: RequestResult?, _ members: inout JSONMembers) throws(JSONError) {
        var answer: HTTPAnswer?
        var failure: TransportFailure?
        switch result?.result {
        case .success(let known): answer = known
        case .failure(let known): failure = known
        case nil: break
        }
        if let kind = try members.orAbsent("failure", failure?.kind) {
            let detail = try members("detail", failure?.detail)
            let mayBeSent = try members("may_be_sent", failure?.mayBeSent)
            self.init(.failure(TransportFailure(kind, detail, mayBeSent: mayBeSent)))
            return
        }
        let status = try members("status", answer?.status)
        let date = try members.orNull("date", (answer?.date).map(UnixTime.init))?.moment
        let body = try members("body", answer.map { String(decoding: $0.body, as: UTF8.self) })
        let isBodyLeftOut = try members.flag("body_left_out", answer?.isBodyLeftOut)
        self.init(
            .success(HTTPAnswer(status: status, body: Array(body.utf8), date: date, isBodyLeftOut: isBodyLeftOut)))
    }
}
