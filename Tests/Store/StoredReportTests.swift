import Testing

@testable import Store

@Suite struct StoredReportTests {
    @Test(arguments: ["app17", "a.b-c_d", "ä b/c%", String(repeating: "x", count: 253)])
    func aMachineIsFoundByItsKey(machine: String) {
        let key = StoredReport.key(of: machine, below: "/p")
        #expect(key.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        #expect(StoredReport.machine(of: key, below: "/p") == machine)
        let keys = StoredReport.keys(below: "/p")
        #expect(keys.first.lexicographicallyPrecedes(key) && key.lexicographicallyPrecedes(keys.end))
    }

    @Test(arguments: [
        "/p/v1/host/", "/p/v1/host/a/b", "/p/v1/host/%61", "/p/v1/host/a%0A", "/p/v1/host/%", "/p/v1/host/a%2",
        "/p/v1/host/a%2f", "/p/v1/host/%FF", "/q/v1/host/a", "/p/v1/hosta",
        "/p/v1/host/" + String(repeating: "x", count: 254),
    ])
    func whatIsNoMachinesKey(key: String) {
        #expect(StoredReport.machine(of: Array(key.utf8), below: "/p") == nil)
    }
}
