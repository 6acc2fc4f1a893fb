import AppleClientSecret
import Failures
import Testing

/// What a server returns of what it was sent.
@Suite struct EchoedSecretsTests {
    /// A client secret, a token of Vault's, an AWS key, a password.
    private static let texts = [
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJERUYxMjNHSElKIn0."
            + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
        "hvs.CAESIJ3+a/b=Xy_24chars", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "p@ss/w&rd9 ?",
    ]

    private static func hexadecimal(_ byte: UInt8) -> String { Hex.encode(byte) }

    private static func each(_ form: @escaping @Sendable (UInt8) -> String) -> @Sendable (String) -> String {
        { $0.utf8.map(form).joined() }
    }

    private static func base64(_ text: String) -> String { Base64.encode(Array(text.utf8)) }

    private static func pieces(_ text: String, of length: Int) -> [String] {
        stride(from: 0, to: text.count, by: length).map { String(text.dropFirst($0).prefix(length)) }
    }

    /// How a server may write what it was sent.
    private static let forms: [(name: String, of: @Sendable (String) -> String)] = [
        ("plain", { $0 }), ("capitals", { $0.uppercased() }),
        ("without its end", { String($0.dropLast(3)) }), ("without its beginning", { String($0.dropFirst(3)) }),
        ("in lines", { pieces($0, of: 5).joined(separator: "\n") }),
        ("percent-encoded", each { "%" + hexadecimal($0).uppercased() }),
        ("percent-encoded twice", each { "%25" + hexadecimal($0) }),
        ("escaped for JSON", each { #"\u00"# + hexadecimal($0) }),
        ("in JSON in JSON", each { #"\\u00"# + hexadecimal($0) }),
        (
            "with escaped slashes",
            { $0.split(separator: "/", omittingEmptySubsequences: false).joined(separator: #"\/"#) }
        ),
        ("base64", base64), ("base64, one byte later", { base64("x" + $0) }),
        ("base64, two bytes later", { base64("xy" + $0) }),
        ("base64url", { String(decoding: Base64URL.encode(Array($0.utf8)), as: UTF8.self) }),
        ("base64 in an address", { base64($0).utf8.map { "%" + hexadecimal($0) }.joined() }),
        ("base64 twice", { base64(base64($0)) }),
        ("in Basic authorization", { base64("user:" + $0) }),
    ]

    @Test(arguments: forms.map(\.name)) func leavesNothingOfAText(form: String) throws {
        let write = try #require(Self.forms.first { $0.name == form }).of
        let hidden = EchoedSecrets(Self.texts)
        for text in Self.texts {
            let written = write(text)
            let shown = hidden.redacted("bad token " + written + " was sent")
            #expect(shown.hasPrefix("bad token ") && shown.hasSuffix(" was sent"), "\(shown)")
            // What stays are a few characters at the ends, which encode what was before and after the text.
            let rest = shown.dropFirst(10).dropLast(9).split(separator: "(secret)").joined()
            #expect(rest.utf8.count <= 12, "\(text): \(shown)")
        }
    }

    @Test(arguments: [
        "Another Environment Variable with the same Name exists in your project: APPLE_CLIENT_SECRET",
        "secrets \"apple\" is forbidden: User \"system:serviceaccount:shop:pusher\" cannot patch resource",
        "check-and-set parameter did not match the current version", "Sch\u{fc}ssel ung\u{fc}ltig", "",
    ])
    func leavesEverythingElse(text: String) {
        #expect(EchoedSecrets(Self.texts).redacted(text) == text)
    }

    @Test func showsTwoHundredCharactersOnOneLine() {
        let words = EchoedSecrets(Self.texts).words(String(repeating: "one;\u{202E}\n two ", count: 100))
        #expect(words.unicodeScalars.count == 200)
        #expect(words.hasPrefix(#"one,\u{202e} two one,"#), "\(words)")
    }

    /// A server chooses how long its answers are.
    @Test func readsNoMoreThanTheBeginning() {
        let shown = EchoedSecrets(Self.texts).redacted(String(repeating: "%2541=", count: 200_000))
        #expect(shown.utf8.count == 4_096)
    }
}
