import Foundation
import Keys
import Model
import TestSupport
import Testing

@Suite struct EncryptedKeyTests {
    private static let forms = [
        "-v2 aes-256-cbc", "-v2 aes-128-cbc -v2prf hmacWithSHA512", "-scrypt", "-v2 des3", "-v1 PBE-SHA1-3DES",
    ]
    private static let undecodable = "the key: the private key cannot be decoded"

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("x", to: "passphrase")
    }

    private func load(_ name: String = "key") throws -> SigningKey {
        try signingKey(directory(name), passphrase: directory("passphrase"))
    }

    /// What is said of an envelope with this DER.
    private func said(of envelope: [UInt8]) throws -> String? {
        try directory.write(PKCS8.pem(envelope, label: "ENCRYPTED PRIVATE KEY"), to: "key")
        return try words { try load() }
    }

    @Test(arguments: forms) func aPassphraseOpensItsKey(form: String) throws {
        let key = try freshKey(in: directory, name: "plain")
        try directory.write("correct horse\n", to: "passphrase")
        try shell("openssl pkcs8 -topk8 -in plain -out key \(form) -passout file:passphrase", in: directory)
        for ending in ["", "\n", "\r\n"] {
            try directory.write("correct horse" + ending, to: "passphrase")
            #expect(try load().print == key.print)
        }
        // 40 of them: one wrong passphrase in 256 leaves a padding that looks right.
        for number in 0..<(form.contains("aes-256") ? 40 : 4) {
            try directory.write("wrong \(number)", to: "passphrase")
            #expect(try words { try load() } == "the key: the passphrase does not open the key")
        }
    }

    @Test func aPassphraseHasItsOwnFailures() throws {
        _ = try freshKey(in: directory)
        let longest = String(repeating: "p", count: 1024)
        for (passphrase, problem) in [
            ("", "it is empty"), ("\n", "it is empty"), ("\r\n", "it is empty"), (longest + "\r\n", nil),
            (longest + "p", "it is longer than 1024 bytes"), (longest + "ppp", "it is longer than 1024 bytes"),
        ] as [(String, String?)] {
            try directory.write(passphrase, to: "passphrase")
            let message = problem.map { "the passphrase: the passphrase cannot be used: \($0)" }
            #expect(try words { try load() } == message)
        }
    }

    /// What editors and people add, which counts as a part of it.
    @Test(arguments: [
        ("\u{FEFF}abcd\n", "byte-order mark"), ("\"abcd\"\n", "quotes"), ("'abcd'", "quotes"), ("abcd \n", "space"),
        ("abcd\n\n", "line break"), (" abcd", "space"), ("\nabcd", "line break"), ("\"abcd\n", nil), ("\"", nil),
        ("abc", nil),
    ])
    func unlikelyPartsOfAPassphraseAreNamed(passphrase: String, word: String?) throws {
        try shell(
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes256 -pass pass:abcd -out key; chmod 600 key",
            in: directory)
        try directory.write(passphrase, to: "passphrase")
        let said = try #require(try words { try load() })
        #expect(said.hasPrefix("the key: the passphrase does not open the key"))
        #expect(word.map { said.contains($0) } ?? said.hasSuffix("open the key"), "\(said)")
    }

    /// What some editors save instead of UTF-8.
    @Test(arguments: ["UTF-16", "UTF-32"]) func aPassphraseThatIsNotUTF8IsNamed(encoding: String) throws {
        try shell(
            """
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes256 -pass pass:abcd -out key
            printf abcd | iconv -t \(encoding) >passphrase
            chmod 600 key passphrase
            """, in: directory)
        let said = try #require(try words { try load() })
        #expect(said.hasSuffix("open the key: it is \(encoding); write it as UTF-8"), "\(said)")
    }

    @Test func aDamagedEnvelopeIsNoWrongPassphrase() throws {
        _ = try freshKey(in: directory, name: "plain")
        try shell(
            """
            openssl pkcs8 -topk8 -in plain -out key -v2 aes-256-cbc -passout pass:x
            sed 's/^/ /; 2s/ ./A/' key >damaged
            sed 's/ENCRYPTED //' key >unlabelled
            sed 's/PRIVATE/ENCRYPTED PRIVATE/' plain >mislabelled
            openssl pkcs8 -topk8 -in plain -out legacy -v1 PBE-MD5-DES -provider legacy -provider default -passout pass:x
            sed 3d key >cut
            """, in: directory)
        for (name, detail) in [
            ("damaged", ""), ("mislabelled", ""), ("cut", ""),
            ("unlabelled", ": it is encrypted, and its BEGIN line does not say so"),
            ("legacy", ": it is encrypted with PBE-MD5-DES, which OpenSSL 3 does not open by itself"),
        ] {
            #expect(try words { try load(name) } == Self.undecodable + detail, "\(name)")
        }
        #expect(try words { try load() } == nil)
    }

    /// PBES2 (1.2.840.113549.1.5.13) with something else than its parameters, a scheme that nobody knows, and no content.
    @Test(
        arguments: [
            ([0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0D, 5, 0], [4, 1, 0]),
            ([0x06, 0x03, 0x2A, 0x03, 0x04, 5, 0], [4, 1, 0]),
        ] as [([UInt8], [UInt8])])
    func aSchemeWithoutItsParametersIsNotOpened(algorithm: [UInt8], content: [UInt8]) throws {
        #expect(
            try said(of: PKCS8.element(0x30, PKCS8.element(0x30, algorithm) + content))
                == Self.undecodable + ": it is encrypted in a way that libcrypto cannot decrypt")
    }

    @Test func anEnvelopeWithoutContentHoldsNoKey() throws {
        _ = try freshKey(in: directory, name: "plain")
        // The scheme of a real one, and an octet string of no bytes.
        let der = try shell(
            """
            openssl pkcs8 -topk8 -in plain -outform DER -out whole -v2 aes-256-cbc -passout pass:x
            length=$(openssl asn1parse -inform DER -in whole | sed -n '2s/.*hl=2 l= *\\([0-9]*\\) .*/\\1/p')
            tail -c +4 whole | head -c $((length + 2)) | base64 -w 0
            """, in: directory)
        let algorithm = try #require(Data(base64Encoded: der))
        #expect(try said(of: PKCS8.element(0x30, Array(algorithm) + [4, 0])) == Self.undecodable)
    }
}
