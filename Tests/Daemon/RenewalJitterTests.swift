import Testing

@testable import Daemon

/// Where in the renewal window a machine renews.
@Suite struct RenewalJitterTests {
    private func id(_ number: Int) -> [UInt8] {
        let digits = String(number, radix: 16)
        return Array((String(repeating: "0", count: 32 - digits.count) + digits + "\n").utf8)
    }

    @Test func theMachineIDDecides() {
        let value = RenewalJitter.value(machineID: id(1), hostName: "app1")
        #expect(RenewalJitter.value(machineID: id(1), hostName: "app2") == value)
        #expect(RenewalJitter.value(machineID: id(2), hostName: "app1") != value)
    }

    @Test func withoutOneTheHostNameDecides() {
        let value = RenewalJitter.value(machineID: nil, hostName: "app1")
        #expect(RenewalJitter.value(machineID: nil, hostName: "app1") == value)
        #expect(RenewalJitter.value(machineID: nil, hostName: "app2") != value)
    }

    @Test func aRestartMovesNothing() {
        #expect(RenewalJitter.value == RenewalJitter.value)
        // What a release once drew stays: another value would move the renewals of a whole fleet.
        #expect(
            RenewalJitter.value(machineID: nil, hostName: "app1") == Double(4_014_175_414) / Double(UInt64(1) << 32))
    }

    @Test func machinesAreSpread() {
        var tenths: [Int: Int] = [:]
        for number in 0..<1_000 {
            let value = RenewalJitter.value(machineID: id(number), hostName: "")
            #expect((0..<1).contains(value))
            tenths[Int(value * 10), default: 0] += 1
        }
        #expect(tenths.count == 10 && tenths.values.allSatisfy { (50...150).contains($0) }, "\(tenths)")
    }
}
