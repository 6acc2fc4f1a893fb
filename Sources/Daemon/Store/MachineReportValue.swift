import AppleClientSecret
import Failures
import Model
import Store

/// A machine's report in the store, in JSON.
///
/// The rules are:
/// - It has at most ``StoreEntry/longest`` bytes. Clients for which there is no room are left out, and the report has their
///   number. Clients that have delivered their secret are left out first, the longest ago first. Every change is in the report,
///   and a reader keeps the earlier reports of the other clients.
/// - Any user who may write to the store may have written the text. Anything but the JSON of this version is ignored, and so
///   are clients that the caller does not name.
struct MachineReportValue {
    /// Identifies the daemon: two machines with the same host name have different values.
    let instance: String
    let report: MachineReport

    init(instance: String, report: MachineReport) {
        self.instance = instance
        self.report = report
    }

    /// Reads the bytes of ``text``; nil for anything else.
    ///
    /// - Parameter clients: all other clients in the report are ignored.
    init?(_ bytes: [UInt8], of clients: Set<ClientIdentity>) {
        guard let read = try? MachineReportText(parsing: bytes) else { return nil }
        var held: [ClientIdentity: MachineReport.Holding] = [:]
        for entry in read.clients where clients.contains(entry.identity) {
            held.merge([entry.identity: entry.holding]) { $0.isWorse(than: $1) ? $0 : $1 }
        }
        let isSettled = read.clients.contains { $0.holding.failure == nil && $0.holding.delivered }
        let leftOut: MachineReport.LeftOut = read.leftOut == 0 ? .nothing : isSettled ? .settled : .any
        self.init(instance: read.instance, report: MachineReport(at: read.at, clients: held, leftOut: leftOut))
    }

    /// The value, with as many clients as there is room for.
    var text: String {
        let clients = report.clients.sorted { one, other in
            let (left, right) = (one.value, other.value)
            return (left.failure == nil ? 1 : 0, left.delivered ? 1 : 0, right.since, one.key.client.description)
                < (right.failure == nil ? 1 : 0, right.delivered ? 1 : 0, left.since, other.key.client.description)
        }
        // A number of six digits, in case some are left out.
        var room = StoreEntry.longest - render([], leavingOut: 100_000).utf8.count
        var entries: [MachineReportEntry] = []
        for (identity, holding) in clients {
            let entry = MachineReportEntry(identity: identity, holding: holding)
            // And a comma.
            room -= entry.jsonText.bytes.count + 1
            if room < 0 { break }
            entries.append(entry)
        }
        return render(entries, leavingOut: clients.count - entries.count)
    }

    private func render(_ entries: [MachineReportEntry], leavingOut count: Int) -> String {
        MachineReportText(instance: instance, at: report.at, clients: entries, leftOut: count).json
    }
}

/// A report in JSON.
private struct MachineReportText {
    let instance: String
    let at: WallTime
    let clients: [MachineReportEntry]
    let leftOut: Int
}

extension MachineReportText: JSONDocument {
    init(_ report: Self?, _ members: inout JSONMembers) throws(JSONError) {
        try members.constant("v", 1)
        instance = try members("instance", report?.instance)
        members.derived("version", Version.current)
        at = try members.moment("at", report?.at)
        clients = try members("clients", report?.clients)
        leftOut = try members.orAbsent("left_out", report?.leftOut) ?? 0
    }
}

/// A report's entry for one client.
private struct MachineReportEntry {
    let identity: ClientIdentity
    let holding: MachineReport.Holding
}

extension MachineReportEntry: JSONDocument {
    init(_ entry: Self?, _ members: inout JSONMembers) throws(JSONError) {
        let team = try members("team_id", entry?.identity.team)
        identity = ClientIdentity(team: team, client: try members("client_id", entry?.identity.client))
        let fingerprint = try members.orNull("fingerprint", entry?.holding.secret?.fingerprint)
        // Earlier versions do not give the digest of the signed text.
        let signed = try members.orNull("signed", entry?.holding.secret?.signed)
        let since = try members.moment("since", entry?.holding.since)
        let delivered = try members("delivered", entry?.holding.delivered)
        let failure = try members.orNull("failure", entry?.holding.failure)
        guard failure.map(Self.isCode) ?? true else { throw .unexpected("expected a failure's code", at: "failure") }
        holding = MachineReport.Holding(
            secret: fingerprint.map { SecretName($0, signed: signed) }, since: since, delivered: delivered,
            failure: failure)
    }

    /// Whether it may be the code of a failure, of this version or another.
    private static func isCode(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0.isASCIIAlphanumeric && !$0.isASCIICapital }
    }
}

extension JSONMembers {
    /// A moment of the years from 1970 to 9999.
    fileprivate mutating func moment(_ name: String, _ moment: WallTime?) throws(JSONError) -> WallTime {
        let moment = try self(name, moment.map(UnixTime.init)).moment
        guard (0...253_402_300_799).contains(moment.secondsSinceEpoch) else {
            throw .unexpected("expected a moment", at: name)
        }
        return moment
    }
}
