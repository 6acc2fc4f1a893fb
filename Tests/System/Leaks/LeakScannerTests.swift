import Foundation
import Testing

/// The canary's eyes: what they do not see in these tests they would not see in the daemon's words either.
@Suite struct LeakScannerTests {
    private static let secret = (0..<32).map { UInt8(truncatingIfNeeded: $0 * 37 + 251) }

    private static func digits(_ bytes: [UInt8], _ format: String) -> String {
        bytes.map { String(format: format, $0) }.joined()
    }

    /// As tools that are none of the scanner's write it, with something before and behind it.
    static let guises: [(String, [UInt8])] = {
        let data = Data(secret)
        var guises = [
            ("bytes", [1, 2, 3] + secret + [4, 5]), ("half of it", Array(secret[8..<24])),
            ("small digits", Array("x\(digits(secret, "%02x"))y".utf8)),
            ("capital digits", Array("x\(digits(secret, "%02X"))y".utf8)),
            ("eight bytes in digits", Array("x\(digits(Array(secret[11..<19]), "%02x"))y".utf8)),
        ]
        for (before, behind) in [(0, 0), (1, 0), (2, 0), (3, 1), (4, 2), (36, 70)] {
            let whole = Data(repeating: 0xAB, count: before) + data + Data(repeating: 0xCD, count: behind)
            let text = whole.base64EncodedString()
            guises.append(("base64 behind \(before)", Array(text.utf8)))
            guises.append(
                (
                    "base64url behind \(before)",
                    Array(
                        text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                            .replacingOccurrences(of: "=", with: "").utf8)
                ))
            // PEM has lines of 64 characters.
            let lines = whole.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            guises.append(("PEM behind \(before)", Array("-----BEGIN X-----\n\(lines)\n-----END X-----\n".utf8)))
        }
        return guises
    }()

    @Test(arguments: guises)
    func seesASecretInEveryGuise(guise: String, bytes: [UInt8]) {
        var scanner = LeakScanner()
        scanner.watch(Self.secret, as: "it")
        #expect(!scanner.leaks(in: bytes).isEmpty)
        let rest = [UInt8](repeating: 32, count: 1000)
        #expect(!scanner.leaks(in: rest + bytes + rest).isEmpty)
    }

    @Test func seesATextAndWhatIsMadeOfIt() {
        let text = Array("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djx".utf8)
        var scanner = LeakScanner()
        scanner.watch(text, as: "it")
        #expect(scanner.leaks(in: text) == ["it as it is"])
        #expect(scanner.leaks(in: Data(text).base64EncodedString().utf8) == ["it in base64"])
        #expect(scanner.leaks(in: text[20..<36]) == ["it as it is"])
    }

    @Test func seesNothingWhereNothingIs() {
        var scanner = LeakScanner()
        #expect(scanner.leaks(in: Self.secret).isEmpty)
        scanner.watch(Self.secret, as: "it")
        #expect(scanner.leaks(in: []).isEmpty)
        #expect(scanner.leaks(in: Self.secret[0..<15]).isEmpty)
        #expect(scanner.leaks(in: Self.secret.reversed()).isEmpty)
        #expect(scanner.leaks(in: "sha256:0123456789abcdef and other words of the daemon's".utf8).isEmpty)
    }
}
