package import AppleClientSecret
import Model
import NIOHTTP1

/// Why a request was not carried out: problem details as in RFC 9457.
package struct Problem: Error, Hashable, Sendable {
    /// The HTTP status code.
    package var status: Int
    /// The problem and the remedy, on one line.
    package var detail: String
    /// The errors of a configuration that was refused, in lines ready to show.
    package var diagnostics: [String]
    /// The outcomes of a renewal that failed, one for each client.
    package var outcomes: [RenewalReport.Outcome]
    /// The methods that the address supports, when another one was used.
    var allow: String?
    /// In how many seconds to try again.
    var retryAfter: Int64?

    init(
        _ status: HTTPResponseStatus, _ detail: String, diagnostics: [String] = [],
        outcomes: [RenewalReport.Outcome] = [], allow: String? = nil, retryAfter: Int64? = nil
    ) {
        self.status = Int(status.code)
        self.detail = detail
        self.diagnostics = diagnostics
        self.outcomes = outcomes
        self.allow = allow
        self.retryAfter = retryAfter
    }
}

extension Problem: JSONDocument {
    package init(_ problem: Problem?, _ members: inout JSONMembers) throws(JSONError) {
        // Without a `type` the status identifies the problem, and the title is HTTP's own phrase for it (RFC 9457).
        members.derived("type", "about:blank")
        members.derived("title", problem.map { HTTPResponseStatus(statusCode: $0.status).reasonPhrase } ?? "")
        status = try members("status", problem?.status)
        detail = try members("detail", problem?.detail)
        diagnostics = try members.unlessEmpty("diagnostics", problem?.diagnostics) ?? []
        outcomes = try members.unlessEmpty("outcomes", problem?.outcomes) ?? []
    }
}

extension Problem {
    /// Names that no client has, each with the most similar name that a client has.
    static func unknownClients(_ names: [String], known: [ClientName]) -> Problem {
        // A request may name hundreds; the first ones are enough to show the problem.
        let shown = names.lazy.map { name in
            let near = suggestion(for: name, among: known.map(\.description))
            return "\"\(shortened(name))\"" + (near.map { " (\($0))" } ?? "")
        }
        return Problem(.notFound, "there is no client \(listed(shown, atMost: 5))")
    }

    /// Text that a client sent, cut to a length that fits a line.
    static func shortened(_ text: String) -> String {
        text.count <= 80 ? text : text.prefix(80) + "…"
    }
}
