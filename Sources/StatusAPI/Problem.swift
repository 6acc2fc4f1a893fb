import AppleClientSecret
import NIOHTTP1
import Rotation

/// Why a request was not carried out: problem details as in RFC 9457.
package struct Problem: Error, Hashable, Sendable {
    /// The HTTP status code.
    package var status: Int
    /// What went wrong and what to do, on one line.
    package var detail: String
    /// The mistakes of a configuration that was refused, in lines ready to show.
    package var diagnostics: [String] = []
    /// The outcomes of a renewal that failed, one for each client.
    package var outcomes: [RenewalReport.Outcome] = []
    /// The methods that the address supports, when another one was used.
    var allow: String?
    /// In how many seconds to try again.
    var retryAfter: Int64?

    init(_ status: HTTPResponseStatus, _ detail: String) {
        self.status = Int(status.code)
        self.detail = detail
    }

    /// The document; `type` is `about:blank`, because the status alone tells the problems apart, and `title` is then
    /// HTTP's own phrase for the status.
    package var json: String {
        var members: [(name: String, value: JSONText)] = [
            ("type", .string("about:blank")),
            ("title", .string(HTTPResponseStatus(statusCode: status).reasonPhrase)),
            ("status", .number(status)), ("detail", .string(detail)),
        ]
        if !diagnostics.isEmpty { members.append(("diagnostics", .array(diagnostics.map(JSONText.string)))) }
        if !outcomes.isEmpty { members.append(("outcomes", RenewalReport(outcomes: outcomes).members)) }
        return JSONText.object(members).rendered
    }
}

extension Problem: Decodable {
    private enum Key: String, CodingKey {
        case status
        case detail
        case diagnostics
        case outcomes
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        status = try members.decode(Int.self, forKey: .status)
        detail = try members.decode(String.self, forKey: .detail)
        diagnostics = try members.decodeIfPresent([String].self, forKey: .diagnostics) ?? []
        outcomes = try members.decodeIfPresent([RenewalReport.Outcome].self, forKey: .outcomes) ?? []
    }
}
