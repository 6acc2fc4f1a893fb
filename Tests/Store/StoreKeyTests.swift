import Testing

@testable import Store

@Suite struct StoreKeyTests {
    private static let slot = "DEF123GHIJ/com.example.web/000aff1005060708"

    @Test func aKeyIsNamedByItsKindAndWhatItIsOf() throws {
        let slot = try #require(StoreSlot(Self.slot))
        for (key, text) in [
            (StoreKey.secret(slot), "secret/" + Self.slot), (.rollout(slot), "rollout/" + Self.slot),
            (.report(of: "app17"), "host/app17"),
        ] {
            #expect(key.description == text)
            #expect(StoreKey(text) == key)
            #expect(key.bytes(below: "/a") == Array("/a/v1/\(text)".utf8))
        }
    }

    @Test(arguments: ["app17", "a.b-c_d", String(repeating: "x", count: 253)])
    func aMachineIsFoundByItsKey(machine: String) {
        let key = StoreKey.report(of: machine).bytes(below: "/p")
        #expect(key.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        #expect(StoreKey(key, below: "/p")?.machine == machine)
        let keys = StoreKey.range(of: .report, below: "/p")
        #expect(keys.first.lexicographicallyPrecedes(key) && key.lexicographicallyPrecedes(keys.end))
    }

    @Test(arguments: [
        // A name that could look like a sentence of ours.
        "host/app%3B%20run%20this", "host/%C3%A4",
        "", "host", "host/", "host/a/b", "host/%61", "host/a%0A", "host/%", "host/a%2", "host/a%2f", "host/%FF",
        "hosta",
        "host/" + String(repeating: "x", count: 254), "lease/a", "secret/", "secret/S/", "rollout/S/b", "secret/host/a",
        "secret/%44EF123GHIJ/com.example.web/000aff1005060708",
    ])
    func otherTextsAreNoKey(text: String) {
        let text = text.replacing("S", with: Self.slot)
        #expect(StoreKey(text) == nil)
        #expect(StoreKey(Array("/p/v1/\(text)".utf8), below: "/p") == nil)
    }

    @Test func aKeyBelowAnotherPrefixIsNone() {
        #expect(StoreKey(Array("/q/v1/host/a".utf8), below: "/p") == nil)
        #expect(StoreKey([0xFF], below: "/p") == nil)
    }
}
