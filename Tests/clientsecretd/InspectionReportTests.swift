import AppleClientSecret
import Failures
import Model
import Testing

@testable import clientsecretd

@Suite struct InspectionReportTests {
    private let now = WallTime(secondsSinceEpoch: 1_795_235_460)

    /// A token with this header and payload; its signature is 64 zeros.
    private func token(
        header: String = #"{"alg":"ES256","kid":"ABC123DEFG","typ":"JWT"}"#, payload: String
    ) throws -> CompactJWS {
        let parts = [Array(header.utf8), Array(payload.utf8), [UInt8](repeating: 0, count: 64)].map(Base64URL.encode)
        return try CompactJWS(Array(parts.joined(separator: [UInt8(ascii: ".")])))
    }

    private func inspection(_ jws: CompactJWS, verified: Bool? = nil, keyFileID: String? = nil) -> InspectionReport {
        InspectionReport(
            jws, fingerprint: Fingerprint(leadingBytes: 0x0123_4567_89AB_CDEF), signatureVerified: verified,
            keyFileID: keyFileID.flatMap { KeyID($0) }, now: now)
    }

    private func payload(
        iat: String = "1795235400", exp: String = "1803011460", aud: String = #""https://appleid.apple.com""#
    )
        -> String
    {
        #"{"iss":"DEF123GHIJ","iat":\#(iat),"exp":\#(exp),"aud":\#(aud),"sub":"com.example.web"}"#
    }

    @Test func aSecretThatDoesNotStateTheIdOfItsKeyIsRefused() throws {
        let token = try token(payload: payload())
        let misnamed = inspection(token, verified: true, keyFileID: "XYZ123DEFG")
        #expect(
            misnamed.verdict
                == "Apple refuses this client secret, unless the key's file, AuthKey_XYZ123DEFG.p8, was renamed: "
                + "it is of key id ABC123DEFG.")
        #expect(misnamed.shown.contains("signature    made by this key, whose id is XYZ123DEFG by its file's name"))
        #expect(inspection(token, verified: true, keyFileID: "ABC123DEFG").isGood)
        #expect(inspection(token, keyFileID: "XYZ123DEFG").isGood)
    }

    /// The same judgement as that of health.
    @Test func aClockThatIsNotTrustedJudgesNoTimes() throws {
        let ahead = try token(payload: payload(iat: "1795239000", exp: "1803011460"))
        #expect(!inspection(ahead).isGood)
        let found = InspectionReport(
            ahead, fingerprint: Fingerprint(leadingBytes: 1), signatureVerified: true,
            clockFailure: Failure(.clockDoubtful, at: .clock), now: now)
        #expect(found.isGood && found.verdict.contains("whose times cannot be judged: the clock: "), "\(found.verdict)")
        let other = try token(payload: payload(aud: #""https://example.com""#))
        #expect(
            !InspectionReport(
                other, fingerprint: Fingerprint(leadingBytes: 1), signatureVerified: true,
                clockFailure: Failure(.clockDoubtful, at: .clock), now: now
            ).isGood)
    }

    @Test func aGoodSecret() throws {
        let good = inspection(try token(payload: payload()), verified: true)
        #expect(good.isGood)
        #expect(
            good.shown == [
                "A client secret that is valid for another 90 days.",
                "client id    com.example.web",
                "team id      DEF123GHIJ",
                "key id       ABC123DEFG",
                "audience     https://appleid.apple.com",
                "issued       1 minute ago (2026-11-21T04:30:00Z)",
                "expires      in 90 days (2027-02-19T04:31:00Z)",
                "lifetime     ##############################  90 days left of 90 days",
                "signature    made by this key",
                "fingerprint  sha256:0123456789abcdef",
            ])
        #expect(
            good.json
                == #"{"kind":"sign_in","client_id":"com.example.web","team_id":"DEF123GHIJ","key_id":"ABC123DEFG","#
                + #""issued_at":"2026-11-21T04:30:00Z","expires_at":"2027-02-19T04:31:00Z","expired":false,"#
                + #""signature_verified":true}"#)
    }

    /// A time that RFC 3339 cannot express is none in JSON: a reader would fail at it.
    @Test func timesInMillisecondsAreNull() throws {
        let secret = inspection(try token(payload: payload(iat: "1795235400000", exp: "1803011460000")))
        #expect(!secret.isGood)
        #expect(secret.json.contains(#""issued_at":null,"expires_at":null,"expired":false"#), "\(secret.json)")
    }

    @Test func anotherKeysSignature() throws {
        let forged = inspection(try token(payload: payload()), verified: false)
        #expect(!forged.isGood)
        #expect(forged.verdict == "Apple refuses this client secret: it was not signed by the key.")
    }

    @Test(arguments: [("1795235460", true), ("1795235461", false)])
    func expiresInTheSecondItNames(exp: String, expired: Bool) throws {
        let secret = inspection(try token(payload: payload(iat: "1795231860", exp: exp)))
        #expect(secret.isExpired == expired)
        #expect(secret.isGood == !expired)
        if expired {
            #expect(secret.verdict == "Apple refuses this client secret: it expired at 2026-11-21T04:31:00Z.")
            #expect(secret.shown.contains("lifetime     ..............................  nothing left of 59 minutes"))
        }
    }

    @Test func faultsThatAppleWouldNotAcceptAreNamed() throws {
        let odd = inspection(
            try token(
                header: #"{"alg":"RS256","kid":"abc","x5t":"1"}"#,
                payload: payload(iat: "1795235400.5", exp: #""soon""#, aud: #"["https://appleid.apple.com","x"]"#)))
        #expect(!odd.isGood)
        #expect(odd.isExpired)
        #expect(
            odd.shown == [
                "Apple refuses this client secret: it is not signed with ES256; it has no valid \"kid\"; it has a "
                    + "list as \"aud\"; Apple accepts only the text https://appleid.apple.com; it has no valid \"exp\".",
                "client id    com.example.web",
                "team id      DEF123GHIJ",
                "key id       abc",
                "audience     https://appleid.apple.com, x (Apple accepts only https://appleid.apple.com, not a list)",
                "issued       1 minute ago (2026-11-21T04:30:00Z), with a fraction of a second",
                "expires      not a time",
                "signature    not checked; give a key with --key",
                "fingerprint  sha256:0123456789abcdef",
                "algorithm    RS256",
                "also states  x5t",
            ])
    }

    @Test func aWorkingSecretOfAnotherFormIsGood() throws {
        let odd = inspection(try token(payload: payload(iat: "1795235400.5")), verified: true)
        #expect(odd.isGood)
        #expect(
            odd.verdict
                == "A client secret that is valid for another 90 days, though not as clientsecretd mints it: its times "
                + "have fractions of a second.")
    }

    @Test func whatAStrangerWroteDoesNotLookLikeOurWords() throws {
        let advice = "web\(String(repeating: " ", count: 60))fix: sh"
        let quoted = "'web \(String(repeating: #"\x20"#, count: 59))fix: sh'"
        let said = inspection(try token(payload: #"{"sub":"\#(advice)","\#(advice)":1}"#)).shown
        #expect(said.contains { $0.hasPrefix("client id") && $0.hasSuffix(" " + quoted) })
        #expect(said.contains { $0.hasPrefix("also states") && $0.hasSuffix(" " + quoted) })
    }

    @Test func missingClaimsAreNamed() throws {
        let empty = inspection(try token(header: "{}", payload: "{}"))
        #expect(empty.shown.filter { $0.hasSuffix("missing") }.count == 7)
        #expect(
            empty.json
                == #"{"kind":"sign_in","client_id":null,"team_id":null,"key_id":null,"issued_at":null,"expires_at":null,"#
                + #""expired":true,"signature_verified":null}"#)
    }
}

extension InspectionReport {
    /// Its lines in a pipe.
    fileprivate var shown: [String] {
        let pipe = Terminal(size: nil, environment: [:])
        return lines(for: pipe).map(pipe.line)
    }
}
