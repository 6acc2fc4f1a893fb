import AppleClientSecret
import Foundation
import Keys
import Model
import TestSupport
import Testing

/// Keys, signatures and tokens that others have published.
@Suite struct StandardVectorTests {
    private static let example =
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290"
        + "Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    private static func decoded(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(Array(text.utf8))) }

    /// RFC 7515, appendix A.3.1.
    private static func exampleKey() throws -> SigningKey {
        let point =
            try [4] + decoded("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
            + decoded("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
        let scalar = try decoded("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI")
        return try signingKey(text: PKCS8.pem(PKCS8.der(scalar: scalar, point: point)))
    }

    @Test func theExampleTokenOfRFC7515IsVerified() throws {
        let key = try Self.exampleKey()
        let jws = try CompactJWS(Array(Self.example.utf8))
        #expect(key.publicKey.verifies(jws))
        #expect(jws.stated.issuer == .value("joe"))
        #expect(jws.claims == nil)
        for index in [21, 60, Self.example.utf8.count - 40] {
            var changed = Array(Self.example.utf8)
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect((try? CompactJWS(changed)).map(key.publicKey.verifies) != true)
        }
    }

    @Test func thePublicHalfOfTheKeyInRFC6979IsComputed() throws {
        // RFC 6979, appendix A.2.5; the key without its public half, so that it has to be computed.
        let key = try signingKey(
            text: PKCS8.pem(
                PKCS8.der(scalar: bytes("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"))))
        #expect(
            Array(key.publicKey.spki.suffix(65))
                == bytes(
                    "0460FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
                        + "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299"))
    }

    /// The public keys and signatures of Project Wycheproof, `testvectors_v1/ecdsa_secp256r1_sha256_p1363_test.json`.
    @Test func everyVectorOfWycheproofIsJudgedRight() throws {
        let name = "/Tests/Support/Vectors/ecdsa_secp256r1_sha256_p1363_test.json"
        let file = try JSONDecoder().decode(
            Wycheproof.self, from: try Data(contentsOf: URL(fileURLWithPath: repository + name)))
        var accepted = 0
        var refused = 0
        for group in file.testGroups {
            let key = try #require(PublicKey(spki: bytes(group.publicKeyDer)), "\(group.publicKeyDer)")
            #expect(key.spki == bytes(group.publicKeyDer))
            for test in group.tests {
                let verdict = key.verifies(bytes(test.sig), of: bytes(test.msg))
                #expect(verdict == (test.result == "valid"), "\(test.tcId): \(test.comment)")
                accepted += verdict ? 1 : 0
                refused += verdict ? 0 : 1
            }
        }
        #expect(file.numberOfTests == 262)
        #expect(accepted == 173)
        #expect(refused == 89)
    }

    private struct Wycheproof: Decodable {
        let numberOfTests: Int
        let testGroups: [Group]

        struct Group: Decodable {
            let publicKeyDer: String
            let tests: [Test]
        }

        struct Test: Decodable {
            let tcId: Int
            let comment: String
            let msg: String
            let sig: String
            let result: String
        }
    }
}
