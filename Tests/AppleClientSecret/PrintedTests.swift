import AppleClientSecret
import Testing

/// A secret shows its fingerprint however it is printed.
@Suite struct PrintedTests {
    private let bytes = CompactJWSTests.token()
    private var token: Token { Token(bytes) { _ in [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0xFF] } }

    private func everyWayToPrint(_ value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        var dumpedInside = ""
        dump(["outer": [value]], to: &dumpedInside)
        let children = Mirror(reflecting: value).children.map { "\($0.label ?? ""): \($0.value)" }
        return [
            "\(value)", String(describing: value), String(reflecting: value), dumped, dumpedInside,
            "\(Optional(value) as Any)", "\([value])", children.joined(separator: "\n"),
        ]
    }

    /// The shortest piece of the signature that would give something away, as text and as numbers in a list.
    private func shows(_ text: String, _ bytes: [UInt8]) -> Bool {
        text.contains(String(decoding: bytes.suffix(12), as: UTF8.self))
            || text.contains(bytes.suffix(4).map(String.init).joined(separator: ", "))
    }

    @Test func aTokenNeverPrintsItsBytes() {
        for text in everyWayToPrint(token) {
            #expect(text.contains("sha256:0123456789abcdef"))
            #expect(!shows(text, bytes))
        }
        #expect(Mirror(reflecting: token).children.count == 1)
    }

    @Test func aTokenTakenApartNeverPrintsItsBytes() throws {
        let jws = try CompactJWS(bytes)
        for text in everyWayToPrint(jws) {
            #expect(text.contains("com.example.web"))
            #expect(!shows(text, bytes))
            #expect(!shows(text, [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]))
        }
    }
}
