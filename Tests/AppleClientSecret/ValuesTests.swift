import AppleClientSecret
import TestSupport
import Testing

@Suite struct ValuesTests {
    @Test func idsAreTenCapitalsOrDigits() {
        for text in ["ABC123DEFG", "0000000000", "12345E6789"] {
            #expect(TeamID(text)?.description == text)
            #expect(KeyID(text)?.description == text)
        }
        for text in [
            "", "ABC123DEF", "ABC123DEFGH", "abc123defg", "ABC123DEF ", "ABC123DEF\n", "ÄBC123DEFG", "ABC-23DEFG",
        ] {
            #expect(TeamID(text) == nil)
            #expect(KeyID(text) == nil)
        }
    }

    @Test func aKeyIDIsReadFromApplesFileName() {
        #expect(KeyID(fileName: "AuthKey_ABC123DEFG.p8")?.description == "ABC123DEFG")
        for name in [
            "AuthKey_.p8", "AuthKey_ABC123DEFG.pem", "authkey_ABC123DEFG.p8", "AuthKey_ABC123DEFG (1).p8", ".p8",
        ] {
            #expect(KeyID(fileName: name) == nil)
        }
    }

    @Test func clientIDsAreOfHarmlessCharacters() {
        let longest = String(repeating: "a", count: 255)
        for text in ["com.example.web", "a", "A-b_9.Z", longest] { #expect(ClientID(text)?.description == text) }
        for text in ["", longest + "a", "com example", "com.exämple", "a\"b", "a\\b", "a\nb", "a/b"] {
            #expect(ClientID(text) == nil)
        }
    }

    @Test func claimsAreBackDatedAndExpireByNow() throws {
        let claims = Claims(
            issuer: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID("ABC123DEFG")),
            subject: try #require(ClientID("com.example.web")), now: WallTime(secondsSinceEpoch: 1_795_235_460),
            lifetime: try #require(Lifetime(seconds: 7_776_000)))
        let parts = String(decoding: claims.signingInput, as: UTF8.self).split(separator: ".")
        #expect(parts.count == 2)
        let decoded = parts.map { String(decoding: Base64URL.decode($0.utf8) ?? [], as: UTF8.self) }
        #expect(decoded == [CompactJWSTests.header, CompactJWSTests.payload])
    }

    @Test func fingerprintsAreWrittenAndReadInOneForm() {
        let fingerprint = Fingerprint(leadingBytes: 0x00AB_CDEF)
        #expect(fingerprint.description == "sha256:0000000000abcdef")
        #expect(Fingerprint(fingerprint.description) == fingerprint)
        for text in [
            "", "sha256:", "sha256:0000000000ABCDEF", "sha256:0000000000abcde", "0000000000abcdef",
            "sha256:+000000000abcdef",
        ] {
            #expect(Fingerprint(text) == nil)
        }
    }
}
