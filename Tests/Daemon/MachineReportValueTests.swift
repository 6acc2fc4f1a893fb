import AppleClientSecret
import Failures
import Model
import Rotation
import Store
import Testing

@testable import Daemon

/// A machine's report as it is in the store.
struct MachineReportValueTests {
    private static func identity(_ client: String = "com.example.web") throws -> ClientIdentity {
        ClientIdentity(team: try #require(TeamID("DEF123GHIJ")), client: try #require(ClientID(client)))
    }

    private static func holding(
        _ number: UInt64? = 1, since: Int64 = 5, delivered: Bool = true, failure: String? = nil
    ) -> MachineReport.Holding {
        MachineReport.Holding(
            secret: number.map { SecretName(Fingerprint(leadingBytes: $0), signed: Fingerprint(leadingBytes: $0 + 1)) },
            since: WallTime(secondsSinceEpoch: since),
            delivered: delivered, failure: failure)
    }

    private func value(_ clients: [ClientIdentity: MachineReport.Holding]) -> MachineReportValue {
        MachineReportValue(
            instance: "0123", report: MachineReport(at: WallTime(secondsSinceEpoch: 1_794_992_800), clients: clients))
    }

    @Test func everyReportThatIsWrittenIsRead() throws {
        let clients = [
            try Self.identity(): Self.holding(),
            try Self.identity("b"): Self.holding(nil, delivered: false, failure: "disk_full"),
        ]
        let written = value(clients)
        let read = try #require(MachineReportValue(Array(written.text.utf8), of: Set(clients.keys)))
        #expect(read.report == written.report)
        #expect(read.instance == "0123")
        #expect(MachineReportValue(Array(written.text.utf8), of: [try Self.identity("b")])?.report.clients.count == 1)
    }

    /// A code that cannot be read would hide the whole machine.
    @Test(arguments: FailureCode.allCases) func anyFailureIsRead(code: FailureCode) throws {
        let clients = [try Self.identity(): Self.holding(failure: code.rawValue)]
        let read = MachineReportValue(Array(value(clients).text.utf8), of: Set(clients.keys))
        #expect(read?.report.clients == clients)
    }

    @Test func clientsWithoutRoomAreLeftOutAndCounted() throws {
        var clients: [ClientIdentity: MachineReport.Holding] = [:]
        for number in 0..<500 { clients[try Self.identity("com.example.client\(number)")] = Self.holding() }
        let failing = try Self.identity("com.example.client499")
        clients[failing] = Self.holding(failure: "disk_full")
        let text = value(clients).text
        #expect(text.utf8.count <= StoreEntry.longest)
        #expect(text.utf8.count > StoreEntry.longest - 200)
        let read = try #require(MachineReportValue(Array(text.utf8), of: Set(clients.keys)))
        #expect(read.report.clients[failing] != nil)
        #expect(text.hasSuffix(#""left_out":\#(500 - read.report.clients.count)}"#))
        #expect(read.report.leftOut == .settled)
    }

    /// A machine of which a rollout waits to hear must not be silent about the secret that it has just delivered.
    @Test func theLastDeliveriesAreInIt() throws {
        var clients: [ClientIdentity: MachineReport.Holding] = [:]
        for number in 0..<500 { clients[try Self.identity("com.example.client\(number)")] = Self.holding() }
        let newest = try Self.identity("com.example.client7")
        clients[newest]?.since = Self.holding().since + 1
        #expect(MachineReportValue(Array(value(clients).text.utf8), of: [newest])?.report.clients[newest] != nil)
        // Where there is no room for all that fails, nothing is known of the others.
        for identity in clients.keys { clients[identity]?.delivered = false }
        #expect(MachineReportValue(Array(value(clients).text.utf8), of: [])?.report.leftOut == .any)
    }

    @Test func theWorseOfTwoCounts() throws {
        let text = #"""
            {"v":1,"instance":"a","at":7,"clients":[\#
            {"team_id":"DEF123GHIJ","client_id":"a","fingerprint":null,"since":1,"delivered":true,"failure":null},\#
            {"team_id":"DEF123GHIJ","client_id":"a","fingerprint":null,"since":1,"delivered":false,"failure":"x_y"},\#
            {"team_id":"DEF123GHIJ","client_id":"a","fingerprint":null,"since":1,"delivered":true,"failure":null}]}
            """#
        let identity = try Self.identity("a")
        #expect(MachineReportValue(Array(text.utf8), of: [identity])?.report.clients[identity]?.failure == "x_y")
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"v":2,"instance":"a","at":7,"clients":[]}"#, #"{"v":1,"instance":"a","clients":[]}"#,
        #"{"v":1,"instance":7,"at":7,"clients":[]}"#, #"{"v":1,"instance":"a","at":"7","clients":[]}"#,
        #"{"v":1,"instance":"a","at":-1,"clients":[]}"#,
        #"{"v":1,"instance":"a","at":9223372036854775807,"clients":[]}"#,
        #"{"v":1,"instance":"a","at":7,"clients":{}}"#, #"{"v":1,"instance":"a","at":7,"clients":[7]}"#,
        #"{"v":1,"instance":"a","at":7,"clients":[{}]}"#, #"{"v":1,"v":1,"instance":"a","at":7,"clients":[]}"#,
    ])
    func otherValuesAreNoReport(text: String) {
        #expect(MachineReportValue(Array(text.utf8), of: []) == nil)
    }

    @Test(arguments: [
        #""team_id":"D","client_id":"a","fingerprint":null,"since":1,"delivered":true,"failure":null"#,
        #""team_id":"DEF123GHIJ","client_id":"a b","fingerprint":null,"since":1,"delivered":true,"failure":null"#,
        #""team_id":"DEF123GHIJ","client_id":"a","fingerprint":"x","since":1,"delivered":true,"failure":null"#,
        #""team_id":"DEF123GHIJ","client_id":"a","fingerprint":7,"since":1,"delivered":true,"failure":null"#,
        #""team_id":"DEF123GHIJ","client_id":"a","fingerprint":null,"since":-1,"delivered":true,"failure":null"#,
        #""team_id":"DEF123GHIJ","client_id":"a","fingerprint":null,"since":1,"delivered":1,"failure":null"#,
        #""team_id":"DEF123GHIJ","client_id":"a","fingerprint":null,"since":1,"delivered":true,"failure":"A\u001B"}"#,
        #""team_id":"DEF123GHIJ","client_id":"a","fingerprint":null,"since":1"#,
    ])
    func aClientWithAnythingElseMakesItNone(entry: String) throws {
        let text = #"{"v":1,"instance":"a","at":7,"clients":[{\#(entry)}]}"#
        #expect(MachineReportValue(Array(text.utf8), of: [try Self.identity("a")]) == nil)
    }
}
