import Failures
import Foundation
import Keys
import Model
import TestSupport
import Testing

/// How much work opening a key may be: what people's tools write opens, and nobody waits for what would take hours.
@Suite struct WorkFactorTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("x", to: "passphrase")
    }

    private func said(_ name: String = "key") throws -> String? {
        try words { try signingKey(directory(name), passphrase: directory("passphrase")) }
    }

    @Test(arguments: [
        // What OWASP asks for, with each digest; of scrypt the strongest of its choices that openssl writes.
        "-iter 600000", "-v2prf hmacWithSHA512 -iter 600000", "-v1 PBE-SHA1-3DES -iter 600000",
        "-scrypt -scrypt_N 16384 -scrypt_r 8 -scrypt_p 5", "-scrypt -scrypt_N 8192 -scrypt_r 8 -scrypt_p 10",
        // The most memory that openssl takes.
        "-scrypt -scrypt_N 16384 -scrypt_r 15 -scrypt_p 1",
    ])
    func aStrongKeyOpens(form: String) throws {
        let key = try freshKey(in: directory, name: "plain")
        try shell("openssl pkcs8 -topk8 -in plain -out key \(form) -passout file:passphrase", in: directory)
        #expect(try signingKey(directory("key"), passphrase: directory("passphrase")).print == key.print)
    }

    /// An envelope whose content nothing opens: what matters is how much is asked for before that is known.
    private func write(outer: String = "PBES2", _ sections: String) throws {
        try directory.write(
            """
            asn1 = SEQUENCE:envelope
            [envelope]
            algorithm = SEQUENCE:algorithm
            content = FORMAT:HEX,OCT:00112233445566778899AABBCCDDEEFF
            [algorithm]
            id = OID:\(outer)
            parameters = SEQUENCE:parameters
            \(sections)
            """, to: "form")
        try shell(
            """
            openssl asn1parse -genconf form -noout -out der
            { echo '-----BEGIN ENCRYPTED PRIVATE KEY-----'; base64 der; echo '-----END ENCRYPTED PRIVATE KEY-----'; } >key
            """, in: directory)
    }

    private func write(derivation: String, _ parameters: String) throws {
        try write(
            """
            [parameters]
            derivation = SEQUENCE:derivation
            cipher = SEQUENCE:cipher
            [derivation]
            id = OID:\(derivation)
            parameters = SEQUENCE:factors
            [factors]
            salt = FORMAT:HEX,OCT:0011223344556677
            \(parameters)
            [cipher]
            id = OID:aes-256-cbc
            iv = FORMAT:HEX,OCT:00112233445566778899AABBCCDDEEFF
            """)
    }

    private func write(iterations: String) throws {
        try write(
            derivation: "PBKDF2",
            """
            iterations = INTEGER:\(iterations)
            digest = SEQUENCE:digest
            [digest]
            id = OID:hmacWithSHA256
            nothing = NULL
            """)
    }

    private func write(n: String, r: String, p: String) throws {
        try write(derivation: "1.3.6.1.4.1.11591.4.11", "n = INTEGER:\(n)\nr = INTEGER:\(r)\np = INTEGER:\(p)")
    }

    private static let refusal = "the key: the key is encrypted with more iterations than are allowed: "

    @Test(arguments: ["10000001", "2147483647", "4294967297", "0xFFFFFFFFFFFFFFFF"])
    func roundsAreBounded(iterations: String) throws {
        let number = iterations.hasPrefix("0x") ? "18446744073709551615" : iterations
        let refusal = Self.refusal + "\(number) iterations; the limit is 10000000"
        try write(iterations: iterations)
        #expect(try said() == refusal)
        for older in ["PBE-SHA1-3DES", "PBE-MD5-DES"] {
            try write(
                outer: older,
                """
                [parameters]
                salt = FORMAT:HEX,OCT:0011223344556677
                iterations = INTEGER:\(iterations)
                """)
            #expect(try said() == refusal)
        }
    }

    /// What the tests above make is what libcrypto reads: with a small factor it is done, and opens nothing.
    @Test func theFormsAreRealOnes() throws {
        try write(iterations: "2048")
        #expect(try said() == "the key: the passphrase does not open the key")
        try write(n: "1024", r: "8", p: "1")
        #expect(try said() == "the key: the passphrase does not open the key")
        try write(
            outer: "PBE-SHA1-3DES", "[parameters]\nsalt = FORMAT:HEX,OCT:0011223344556677\niterations = INTEGER:2048")
        #expect(try said() == "the key: the passphrase does not open the key")
    }

    @Test(arguments: [("16384", "8", "129"), ("131072", "1", "129"), ("1024", "1", "200000")])
    func workOfScryptIsBounded(n: String, r: String, p: String) throws {
        try write(n: n, r: r, p: p)
        #expect(
            try said() == Self.refusal + "scrypt with N \(n), r \(r) and p \(p); the limit for N · r · p is 16777216")
    }

    @Test(arguments: [
        ("32768", "8", "1"), ("1048576", "8", "1"), ("16384", "16", "1"), ("2", "1", "262144"),
        ("0x8000000000000000", "8", "1"), ("2", "0xFFFFFFFFFFFFFFFF", "0xFFFFFFFFFFFFFFFF"),
    ])
    func memoryOfScryptIsThatOfOpenSSL(n: String, r: String, p: String) throws {
        try write(n: n, r: r, p: p)
        let refusal = try #require(try said())
        #expect(refusal.hasPrefix(Self.refusal + "scrypt with N "))
        #expect(refusal.hasSuffix(", which takes more memory than OpenSSL's 32 MiB"))
        let failure = try #require(throws: Failure.self) {
            try signingKey(directory("key"), passphrase: directory("passphrase"))
        }
        #expect(failure.remedy?.description == "encrypt it again, for example with N 16384, r 8 and p 1")
    }

    @Test func aWrongFactorIsNoKey() throws {
        for iterations in ["-1", "0x1FFFFFFFFFFFFFFFFFFFFFFFF"] {
            try write(iterations: iterations)
            #expect(try said() == "the key: the private key cannot be decoded")
        }
        try write(derivation: "1.2.3.4", "rounds = INTEGER:2147483647")
        let unknown =
            "the key: the private key cannot be decoded: it is encrypted in a way that libcrypto cannot decrypt"
        #expect(try said() == unknown)
        try write(derivation: "PBKDF2", "more = UTF8:none")
        #expect(try said() == unknown)
    }

    /// Every byte of the envelope up to what is encrypted, changed in several ways: a failure in plain words, within the
    /// test's time. Takes a second or two.
    @Test(arguments: ["-iter 16", "-scrypt -scrypt_N 16 -scrypt_r 1 -scrypt_p 1", "-v1 PBE-SHA1-3DES -iter 16"])
    func noByteOfAnEnvelopeIsTakenOnTrust(form: String) throws {
        _ = try freshKey(in: directory, name: "plain")
        try shell(
            "openssl pkcs8 -topk8 -in plain -outform DER -out der \(form) -passout file:passphrase", in: directory)
        let der = try Array(Data(contentsOf: URL(fileURLWithPath: directory("der"))))
        // What is encrypted are 138 bytes and their padding.
        for index in 0..<(der.count - 138) {
            for mask: UInt8 in [0x01, 0x02, 0x10, 0x80, 0xFF] {
                var damaged = der
                damaged[index] ^= mask
                try directory.write(PKCS8.pem(damaged, label: "ENCRYPTED PRIVATE KEY"), to: "key")
                do {
                    _ = try signingKey(directory("key"), passphrase: directory("passphrase"))
                } catch let failure as Failure {
                    let expected: Set<Failure.Code> = [.keyMalformed, .keyWrongPassphrase, .keyTooCostly]
                    #expect(expected.contains(failure.code), "byte \(index) with \(mask): \(failure.message)")
                }
            }
        }
    }
}
