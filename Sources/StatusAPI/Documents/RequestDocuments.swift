package import AppleClientSecret
import Model
import NIOHTTP1

/// The body of a `POST` that renews; every member may be left out.
struct RenewalBody {
    /// Nil for all of them.
    var clients: [String]?
    var dueWithin: DueWithin?
    var deliverOnly: Bool?
    var skipVerify: Bool?
}

extension RenewalBody: JSONDocument {
    init(_ body: RenewalBody?, _ members: inout JSONMembers) throws(JSONError) {
        // Ignoring a misspelt member would renew more than was asked for. First, because a value that is wrong may be
        // that of a member which does not exist.
        try members.refuseOthers(than: ["clients", "due_within", "deliver_only", "skip_verify"])
        clients = try members.orAbsent("clients", body?.clients)
        dueWithin = try members.orAbsent("due_within", body?.dueWithin)
        deliverOnly = try members.orAbsent("deliver_only", body?.deliverOnly)
        skipVerify = try members.orAbsent("skip_verify", body?.skipVerify)
    }

    /// The body that asks for `renewal`.
    init(_ renewal: DaemonRequest.Renewal) {
        if !renewal.clients.isEmpty { clients = renewal.clients.sorted().map(\.description) }
        dueWithin = renewal.dueWithin.map(DueWithin.init)
        if renewal.deliverOnly { deliverOnly = true }
        if renewal.skipVerify { skipVerify = true }
    }

    /// Decodes `json`; an empty body has no members.
    init(json: [UInt8]) throws(Problem) {
        guard !json.isEmpty else {
            self.init()
            return
        }
        do throws(JSONError) {
            try self.init(parsing: json)
        } catch {
            throw Problem(.badRequest, "the body is not a renewal: \(error.words)")
        }
    }

    /// A span of time: seconds as a number, or text such as `21d`.
    struct DueWithin: JSONConvertible {
        var seconds: Seconds

        init(_ seconds: Seconds) {
            self.seconds = seconds
        }

        var jsonText: JSONText { seconds.count.jsonText }

        init(jsonValue: JSONValue) throws(JSONError) {
            guard let span = jsonValue.whole ?? jsonValue.text.flatMap({ DurationText.parse($0)?.count }), span >= 0
            else {
                throw jsonValue.unexpected("seconds as a number, or a span such as \"21d\"")
            }
            seconds = Seconds(span)
        }
    }
}

/// The outcomes of a renewal, client by client: the answer to a `POST` that renews, and part of the problem when one of
/// them failed.
package struct RenewalReport: Hashable, Sendable {
    package var outcomes: [Outcome]

    package init(outcomes: [Outcome]) {
        self.outcomes = outcomes
    }

    /// The outcome for one client.
    package struct Outcome: Hashable, Sendable {
        package var client: String
        package var result: Result
        /// These three describe the secret of a client that was renewed or delivered.
        package var fingerprint: String?
        package var issuedAt: WallTime?
        package var expiresAt: WallTime?
        /// Why the client failed; nil for the other results.
        package var error: String?

        package enum Result: String, JSONString, Hashable, Sendable {
            case renewed
            case delivered
            case untouched
            case failed
        }
    }
}

extension RenewalReport: JSONDocument {
    package init(_ report: RenewalReport?, _ members: inout JSONMembers) throws(JSONError) {
        outcomes = try members("outcomes", report?.outcomes)
    }
}

extension RenewalReport.Outcome: JSONDocument {
    package init(_ outcome: Self?, _ members: inout JSONMembers) throws(JSONError) {
        client = try members("client", outcome?.client)
        result = try members("result", outcome?.result)
        fingerprint = try members.orNull("fingerprint", outcome?.fingerprint)
        issuedAt = try members.orNull("issued_at", outcome?.issuedAt)
        expiresAt = try members.orNull("expires_at", outcome?.expiresAt)
        error = try members.orNull("error", outcome?.error)
    }

    init(_ outcome: RenewalOutcome) {
        client = outcome.client.description
        switch outcome.result {
        case .renewed(let issued), .delivered(let issued):
            result = if case .renewed = outcome.result { .renewed } else { .delivered }
            fingerprint = issued.fingerprint.description
            issuedAt = issued.issuedAt
            expiresAt = issued.expiresAt
        case .untouched:
            result = .untouched
        case .failed(let words):
            result = .failed
            error = words
        }
    }
}

/// The answer to a reload whose configuration was adopted.
package struct ReloadReport: Hashable, Sendable {
    /// The parts of the configuration that cannot be served, in words ready to show.
    package var unserved: [String]
    /// The files that are no longer outputs and hold a valid secret, in words ready to show.
    package var orphaned: [String]
}

extension ReloadReport: JSONDocument {
    package init(_ report: ReloadReport?, _ members: inout JSONMembers) throws(JSONError) {
        unserved = try members("unserved", report?.unserved)
        orphaned = try members("orphaned", report?.orphaned)
    }
}
