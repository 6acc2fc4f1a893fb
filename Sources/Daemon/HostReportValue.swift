import AppleClientSecret
import Failures
import Model
import SignIn
import Store

/// A machine's report as it lies in the store, in JSON.
///
/// The rules are:
/// - It has at most ``StoreValue/longest`` bytes. Clients for which there is no room are left out, healthy ones first, and
///   the report says how many these are.
/// - Anybody who may write to the store may have written what is read: anything but the JSON of this version is ignored,
///   and so are clients that the caller does not name.
struct HostReportValue {
    /// Identifies the daemon: two machines with the same host name have different values.
    let instance: String
    let report: HostReport

    init(instance: String, report: HostReport) {
        self.instance = instance
        self.report = report
    }

    /// Reads ``text``; nil for anything else.
    ///
    /// - Parameter clients: all other clients in the report are ignored.
    init?(_ text: String, of clients: Set<ClientIdentity>) {
        guard text.utf8.count <= StoreValue.longest,
            let json = try? JSONValue(Array(text.utf8)), json["v"]?.whole == 1,
            let instance = json["instance"]?.text, let at = Self.moment(json["at"]),
            let entries = json["clients"]?.elements
        else { return nil }
        var held: [ClientIdentity: HostReport.Holding] = [:]
        for entry in entries {
            guard let team = entry["team_id"]?.text.flatMap({ TeamID($0) }),
                let client = entry["client_id"]?.text.flatMap({ ClientID($0) }), let holding = Self.holding(entry)
            else { return nil }
            let identity = ClientIdentity(team: team, client: client)
            guard clients.contains(identity) else { continue }
            held.merge([identity: holding]) { $0.isWorse(than: $1) ? $0 : $1 }
        }
        self.init(instance: instance, report: HostReport(at: at, clients: held))
    }

    private static func holding(_ json: JSONValue) -> HostReport.Holding? {
        guard let since = moment(json["since"]), case .bool(let delivered)? = json["delivered"] else { return nil }
        var secret: SecretName?
        if let text = json["fingerprint"]?.text {
            guard let fingerprint = Fingerprint(text) else { return nil }
            // Earlier versions do not say what is signed.
            secret = SecretName(fingerprint, signed: json["signed"]?.text.flatMap { Fingerprint($0) })
        } else if json["fingerprint"] != .null {
            return nil
        }
        let failure = json["failure"]?.text
        guard json["failure"] == .null || failure.map(isCode) == true else { return nil }
        return HostReport.Holding(
            secret: secret, since: since, delivered: delivered, failure: failure)
    }

    /// A moment of the years from 1970 to 9999.
    private static func moment(_ json: JSONValue?) -> WallTime? {
        json?.whole.flatMap { (0...253_402_300_799).contains($0) ? WallTime(secondsSinceEpoch: $0) : nil }
    }

    /// Whether it may be the code of a failure, of this version or another.
    private static func isCode(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0 == 95 || (97...122).contains($0) }
    }

    /// The value, with as many clients as there is room for.
    var text: String {
        let clients = report.clients.sorted { one, other in
            if one.value.isWorse(than: other.value) { return true }
            if other.value.isWorse(than: one.value) { return false }
            return one.key.client.description < other.key.client.description
        }
        // A number of six digits, in case some are left out.
        var room = StoreValue.longest - render([], leavingOut: 100_000).utf8.count
        var entries: [JSONText] = []
        for (identity, holding) in clients {
            let entry = Self.json(identity, holding)
            // And a comma.
            room -= entry.bytes.count + 1
            if room < 0 { break }
            entries.append(entry)
        }
        return render(entries, leavingOut: clients.count - entries.count)
    }

    private func render(_ entries: [JSONText], leavingOut count: Int) -> String {
        JSONText.object([
            ("v", .number(1)), ("instance", .string(instance)), ("version", .string(Version.current)),
            ("at", .number(Int(report.at.secondsSinceEpoch))), ("clients", .array(entries)),
            ("left_out", .number(count)),
        ]).rendered
    }

    private static func json(_ identity: ClientIdentity, _ holding: HostReport.Holding) -> JSONText {
        .object([
            ("team_id", .string(identity.team.description)), ("client_id", .string(identity.client.description)),
            ("fingerprint", .text(holding.secret?.fingerprint.description)),
            ("signed", .text(holding.secret?.signed?.description)),
            ("since", .number(Int(holding.since.secondsSinceEpoch))), ("delivered", .bool(holding.delivered)),
            ("failure", .text(holding.failure)),
        ])
    }
}
