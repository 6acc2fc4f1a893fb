import AppleClientSecret
import NIOHTTP1
import Rotation

/// Why a request was not carried out: problem details as RFC 9457 has them.
package struct Problem: Error, Hashable, Sendable {
    /// The HTTP status code.
    package var status: Int
    /// What went wrong and what to do, on one line.
    package var detail: String
    /// Of a configuration that was refused: its mistakes, in lines ready to show.
    package var diagnostics: [String] = []
    /// Of a renewal that failed: what it came to for each client.
    package var outcomes: [RenewalReport.Outcome] = []
    /// The methods that an address knows, where the one that was used is not among them.
    var allow: String?
    /// In how many seconds to try again.
    var retryAfter: Int64?

    init(_ status: HTTPResponseStatus, _ detail: String) {
        self.status = Int(status.code)
        self.detail = detail
    }

    /// The document; `type` is `about:blank`, because the status says all there is to tell apart, and then `title` is
    /// HTTP's own phrase for it.
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
