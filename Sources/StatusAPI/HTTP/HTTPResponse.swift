import AppleClientSecret
import Failures
import Model
import NIOCore
import NIOHTTP1

/// An answer that is ready to be sent.
struct HTTPResponse {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders
    var body: ByteBuffer

    init(_ status: HTTPResponseStatus, _ contentType: String, _ body: ByteBuffer) {
        self.status = status
        headers = [
            "content-type": contentType, "content-length": String(body.readableBytes),
            // A cached answer would show an outdated health state.
            "cache-control": "no-store",
        ]
        self.body = body
    }

    static func json(_ text: String) -> HTTPResponse {
        HTTPResponse(.ok, "application/json", ByteBuffer(string: text + "\n"))
    }

    static func text(_ status: HTTPResponseStatus, _ line: String) -> HTTPResponse {
        HTTPResponse(status, "text/plain; charset=utf-8", ByteBuffer(string: line + "\n"))
    }

    init(_ problem: Problem) {
        self.init(
            HTTPResponseStatus(statusCode: problem.status), "application/problem+json",
            ByteBuffer(string: problem.json + "\n"))
        if let allow = problem.allow { headers.add(name: "allow", value: allow) }
        if let seconds = problem.retryAfter { headers.add(name: "retry-after", value: String(seconds)) }
    }
}

extension HTTPResponse {
    /// The HTTP response for the rotation's answer.
    init(_ answer: Answer, known: [ClientName]) {
        switch answer {
        case .renewed(let outcomes):
            let report = RenewalReport(outcomes: outcomes.map(RenewalReport.Outcome.init))
            let failures = report.outcomes.compactMap { outcome in
                outcome.error.map { "client \"\(outcome.client)\": \($0)" }
            }
            guard let first = failures.first else {
                self = .json(report.json)
                return
            }
            let more = failures.count == 1 ? "" : " (and \(failures.count - 1) more)"
            self.init(
                Problem(
                    .internalServerError,
                    "\(failures.count) of \(report.outcomes.count) clients could not be renewed: \(first)\(more)",
                    outcomes: report.outcomes))
        case .reloaded(let unserved, let orphaned):
            self = .json(ReloadReport(unserved: unserved, orphaned: orphaned).json)
        case .refused(let diagnostics):
            self.init(
                Problem(
                    .unprocessableEntity, "the configuration is refused, and the previous one stays current",
                    diagnostics: diagnostics))
        case .unread(let diagnostics):
            self.init(
                Problem(
                    .internalServerError, "the configuration cannot be read, and the previous one stays current",
                    diagnostics: diagnostics))
        case .unknownClients(let names):
            self.init(.unknownClients(names.map(\.description), known: known))
        case .fleet(let view):
            self = .json(view.json)
        case .noFleet(let failure?):
            self.init(Problem(.badGateway, failure.sentence))
        case .noFleet(nil):
            self.init(
                Problem(
                    .notFound,
                    "this machine puts no such secret into a store; ask one that has the private key and \"store\", and not "
                        + "\"share: false\""))
        case .rollout(let view):
            self = .json(view.json)
        case .noRollout(let failure?):
            self.init(Problem(.badGateway, failure.sentence))
        case .noRollout(nil):
            self.init(Problem(.notFound, "no rollout of this client is under way; \(Self.look)"))
        case .rolloutOvertaken:
            self.init(Problem(.conflict, "a new secret, a reload or another order came first; \(Self.look)"))
        case .stopping:
            self.init(Problem(.serviceUnavailable, "the daemon is stopping"))
        }
    }

    private static var look: Remedy { .say("see how far it is", run: .statusOfFleet) }
}
