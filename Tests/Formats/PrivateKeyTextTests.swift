import AppleClientSecret
import Testing

@testable import Formats

/// Private keys where they do not belong.
@Suite struct PrivateKeyTextTests {
    private static let scalar = [UInt8](repeating: 0xA5, count: 32)
    private static let algorithm: [UInt8] = [
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D,
        0x03,
        0x01, 0x07,
    ]
    private static let sec1: [UInt8] =
        [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20] + scalar
        + [0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    private static let pkcs8: [UInt8] =
        [0x30, 0x41, 0x02, 0x01, 0x00] + algorithm + [0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20] + scalar
    private static let encrypted: [UInt8] =
        [0x30, 0x81, 0x9A, 0x30, 0x55, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0D]
        + [UInt8](repeating: 0x5A, count: 141)
    private static let rsa: [UInt8] =
        [0x30, 0x82, 0x02, 0x5C, 0x02, 0x01, 0x00, 0x02, 0x81, 0x81, 0x00] + [UInt8](repeating: 0xC3, count: 593)

    private static func pem(_ der: [UInt8], _ label: String) -> String {
        let body = Base64.encode(der)
        let rest = body.dropFirst(64)
        return "-----BEGIN \(label)-----\n\(body.prefix(64))\n\(rest)\n-----END \(label)-----\n"
    }

    /// Every form in which a file, a setting or a variable was seen to hold one.
    @Test(arguments: [
        (pkcs8, "PRIVATE KEY"), (sec1, "EC PRIVATE KEY"), (encrypted, "ENCRYPTED PRIVATE KEY"),
        (rsa, "RSA PRIVATE KEY"),
    ])
    func aPrivateKeyIsFoundInEveryForm(der: [UInt8], label: String) {
        let pem = Self.pem(der, label)
        let body = Base64.encode(der)
        #expect(PrivateKeyText.isIn(der))
        #expect(PrivateKeyText.isIn(pem.utf8.flatMap { [$0, 0] }), "UTF-16")
        for text in [
            pem, pem.replacing("\n", with: ""), pem.replacing("\n", with: "\\n"), pem.replacing("\n", with: "\r\n"),
            "KEY='\(pem)'", body, "\(body.prefix(30))\n\(body.dropFirst(30))", "token=\(body)",
            #"{"private_key":"\#(body)"}"#, String(decoding: Base64URL.encode(der), as: UTF8.self),
            Base64.encode(Array(pem.utf8)), Base64.encode(Array(Base64.encode(Array(pem.utf8)).utf8)),
        ] {
            #expect(PrivateKeyText.isIn(Array(text.utf8)), "\(label): \(text.prefix(40))")
        }
    }

    /// What is a login secret, or belongs to one.
    @Test func otherSecretsAreNoPrivateKey() {
        let point: [UInt8] = [0x03, 0x42, 0x00, 0x04] + Self.scalar + Self.scalar
        let publicKey: [UInt8] = [0x30, 0x59] + Self.algorithm + point
        let certificate: [UInt8] =
            [0x30, 0x82, 0x01, 0x00, 0x30, 0x81, 0xA6, 0xA0, 0x03, 0x02, 0x01, 0x02, 0x02, 0x14] + Self.scalar
        let claims = Base64URL.encode(Array(#"{"iss":"DEF123GHIJ","sub":"com.example.web","iat":1700000000}"#.utf8))
        let segment = String(decoding: claims, as: UTF8.self)
        for text in [
            "", "hunter2", "0\u{2}", "ghp_" + String(repeating: "a1B2", count: 20),
            "\(segment).\(segment).\(Base64.encode(Self.scalar))",
            Self.pem(publicKey, "PUBLIC KEY"), Base64.encode(publicKey), Self.pem(certificate, "CERTIFICATE"),
            "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\nAWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n",
        ] {
            #expect(!PrivateKeyText.isIn(Array(text.utf8)), "\(text.prefix(40))")
        }
        #expect(!PrivateKeyText.isIn(publicKey))
        #expect(!PrivateKeyText.isIn(certificate))
    }
}
