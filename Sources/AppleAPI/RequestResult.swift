package import AppleClientSecret
package import Failures

/// The result of a request, as the network program writes it.
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
