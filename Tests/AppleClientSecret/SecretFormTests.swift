import AppleClientSecret
import TestSupport
import Testing

/// The one judgement of a secret, and the reason that it gives.
@Suite struct SecretFormTests {
    private static let now = WallTime(secondsSinceEpoch: 1_795_235_460)

    /// What is changed in a good token, and why Apple then refuses it.
    private static let refused: [(part: String, becomes: String, objection: Objection)] = [
        (#""alg":"ES256""#, #""alg":"RS256""#, .algorithm), (#""alg":"ES256","#, "", .algorithm),
        (#""alg":"ES256""#, #""alg":"none""#, .algorithm), (#""alg":"ES256""#, #""alg":"es256""#, .algorithm),
        (#""typ":"JWT""#, #""crit":["exp"]"#, .critical),
        (#""kid":"ABC123DEFG","#, "", .unstated("kid")), ("ABC123DEFG", "abc123defg", .unstated("kid")),
        ("ABC123DEFG", "ABC123DEFGH", .unstated("kid")),
        (#""iss":"DEF123GHIJ","#, "", .unstated("iss")), ("DEF123GHIJ", "DEF123GHI", .unstated("iss")),
        (#""DEF123GHIJ""#, "5", .unstated("iss")), (#""sub":"com.example.web""#, #""sub":7"#, .unstated("sub")),
        ("com.example.web", "com example", .unstated("sub")), ("com.example.web", "", .unstated("sub")),
        (#""iat":1795235400"#, #""iat":"1795235400""#, .unstated("iat")), (#""iat":1795235400,"#, "", .unstated("iat")),
        ("1795235400", "99999999999999999999", .unstated("iat")),
        (#""iat":1795235400"#, #""nbf":"now","iat":1795235400"#, .unstated("nbf")),
        (#""exp":1803011460,"#, "", .unstated("exp")), ("1803011460", "1795235400", .endsBeforeItBegins),
        ("1795235400", "1795235400000", .milliseconds),
        ("https://appleid.apple.com", "https://account.apple.com", .audience),
        ("https://appleid.apple.com", "https://appleid.apple.com/", .audience),
        (#""aud":"https://appleid.apple.com","#, "", .audience),
        (#""https://appleid.apple.com""#, #"["https://appleid.apple.com"]"#, .audienceList),
        (#""sub":"com"#, #""sub":"com.example.other","sub":"com"#, .duplicate),
        (#""kid":"#, #""kid":"XYZ123DEFG","kid":"#, .duplicate),
        ("com.example.web", "DEF123GHIJ", .mixup(.clientIsTeam)),
        ("com.example.web", "ABC123DEFG", .mixup(.clientIsKeyID)),
        ("DEF123GHIJ", "ABC123DEFG", .mixup(.teamIsKeyID)),
        ("com.example.web", "DEF123GHIJ.com.example.web", .mixup(.clientHasTeamPrefix)),
    ]

    @Test(arguments: refused.indices) func everyFormThatAppleRefusesIsNamed(index: Int) throws {
        let (part, becomes, objection) = Self.refused[index]
        let header = CompactJWSTests.header.replacing(part, with: becomes)
        let payload = CompactJWSTests.payload.replacing(part, with: becomes)
        try #require(header != CompactJWSTests.header || payload != CompactJWSTests.payload)
        let jws = try CompactJWS(CompactJWSTests.token(header: header, payload: payload))
        #expect(jws.objections == [objection])
        #expect(jws.form == nil)
    }

    @Test func aSignatureOfAnotherFormIsNamed() throws {
        func objections(_ signature: [UInt8]) throws -> [Objection] {
            let parts = CompactJWSTests.token().split(separator: UInt8(ascii: "."))
            let jws = try CompactJWS(parts[0] + [46] + parts[1] + [46] + Base64URL.encode(signature))
            #expect(jws.form == nil)
            return jws.objections
        }
        let number = [UInt8](repeating: 1, count: 32)
        let der = [0x30, 70, 2, 33, 0] + number + [2, 33, 0] + number
        #expect(try objections(der) == [.derSignature])
        // One may be shorter by chance, also as short as a right one.
        let short = [UInt8](repeating: 1, count: 28)
        #expect(try objections([0x30, 64, 2, 32] + number + [2, 28] + short) == [.derSignature])
        #expect(try objections([UInt8](repeating: 1, count: 65)) == [.signatureLength(65)])
        #expect(try objections(Array(der.dropLast()) + [1, 1]) == [.signatureLength(73)])
        #expect(try objections([]) == [.signatureLength(0)])
    }

    /// Seconds from now for `iat`, `nbf` and `exp`, and why Apple refuses them.
    private static let times:
        [(issued: Int64, notBefore: Int64?, expires: Int64, objection: (@Sendable (WallTime) -> Objection)?)] = [
            (-60, nil, 90 * 86_400, nil), (60, nil, 90 * 86_400, nil),
            (61, nil, 90 * 86_400, { .issuedAhead($0 + 61) }), (600, nil, 365 * 86_400, { .issuedAhead($0 + 600) }),
            (-60, -60, 100, nil), (-60, 60, 100, nil), (-60, 61, 100, { .notBefore($0 + 61) }),
            (-60, nil, 15_777_000, nil), (-60, nil, 15_777_001, { .tooLong($0 + 15_777_001) }),
            (-60, nil, 1, nil), (-60, nil, 0, { .expired($0) }),
            (998 * 1_795_235_460, nil, 999 * 1_795_235_460, { _ in .milliseconds }),
            (-60, nil, 999 * 1_795_235_460, { _ in .milliseconds }),
            (-60, 999 * 1_795_235_460, 90 * 86_400, { _ in .milliseconds }),
        ]

    @Test(arguments: times.indices) func impossibleTimesAreNamed(index: Int) throws {
        let (issued, notBefore, expires, objection) = Self.times[index]
        let now = Self.now.secondsSinceEpoch
        let nbf = notBefore.map { #""nbf":\#(now + $0),"# } ?? ""
        let payload = CompactJWSTests.payload.replacing("1795235400", with: "\(now + issued)")
            .replacing("1803011460", with: "\(now + expires)").replacing(#"{"iss""#, with: "{\(nbf)\"iss\"")
        let jws = try CompactJWS(CompactJWSTests.token(payload: payload))
        let form = try #require(jws.form)
        #expect(form.objectionToTimes { $0 <= Self.now } == objection?(Self.now))
    }

    @Test func formsThatAppleAcceptsAndAreNotMintedHereAreNamed() throws {
        func form(_ part: String, _ becomes: String) throws -> SecretForm? {
            let payload = CompactJWSTests.payload.replacing(part, with: becomes)
            return try CompactJWS(CompactJWSTests.token(payload: payload)).form
        }
        let plain = try form("x", "x")
        #expect(plain?.hasFractionalTime == false && plain?.notBefore == nil)
        #expect(try form("1795235400", "1795235400.417")?.hasFractionalTime == true)
        #expect(try form("1803011460", "1803011460.5")?.hasFractionalTime == true)
        // A whole number, however it is written.
        #expect(try form("1795235400", "1795235400.0")?.hasFractionalTime == false)
        let later = try form(#""iss""#, #""nbf":1795235400,"iss""#)
        #expect(later?.hasFractionalTime == false && later?.notBefore == WallTime(secondsSinceEpoch: 1_795_235_400))
    }

    private func form(client: String = "com.example.web", team: String = "DEF123GHIJ", keyID: String = "ABC123DEFG")
        throws -> SecretForm
    {
        let now = Self.now.secondsSinceEpoch
        return SecretForm(.sample(of: client, team: team, keyID: keyID, issuedAt: now - 60, expiresAt: now + 100))
    }

    private func expected(
        _ keys: [(keyID: String, signature: SecretForm.Expectation.Signature)]
    ) throws -> SecretForm.Expectation {
        SecretForm.Expectation(
            client: ClientID("com.example.web"),
            keys: try keys.map {
                .init(
                    team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID($0.keyID)),
                    signature: $0.signature)
            })
    }

    @Test func theIdsAreJudgedBeforeTheTimes() throws {
        func objection(_ form: SecretForm, _ expected: SecretForm.Expectation) -> Objection? {
            form.objection(expected, reached: { (_: WallTime) in false })
        }
        let one = try expected([("ABC123DEFG", .valid)])
        #expect(
            try objection(form(client: "com.example.other"), one)
                == .otherClient(#require(ClientID("com.example.other"))))
        #expect(try objection(form(team: "XYZ123GHIJ"), one) == .otherTeam(#require(TeamID("XYZ123GHIJ"))))
        #expect(try objection(form(keyID: "XYZ123DEFG"), one) == .otherKeyID(#require(KeyID("XYZ123DEFG"))))
        #expect(try objection(form(), expected([("ABC123DEFG", .invalid)])) == .unsigned)
        #expect(try objection(form(), expected([("ABC123DEFG", .ofAnotherKey)])) == .otherKey)
        #expect(try objection(form(), one) == .issuedAhead(Self.now + -60))
    }

    @Test func theKeysAreAnOrderOfPreference() throws {
        let two = try expected([("ABC123DEFG", .unchecked), ("XYZ123DEFG", .valid)])
        #expect(try form().rank(two) == 0)
        #expect(try form(keyID: "XYZ123DEFG").rank(two) == 1)
    }

    /// Apple accepts it as long as it knows that key; whatever else is wrong counts all the same.
    @Test func anotherKeyOfTheTeamIsNoReasonForAppleToRefuse() throws {
        let one = try expected([("ABC123DEFG", .valid)])
        let other = try form(keyID: "XYZ123DEFG")
        #expect(other.refusal(one) { $0 <= Self.now } == nil)
        #expect(other.refusal(one) { $0 <= Self.now + 100 } == .expired(Self.now + 100))
        #expect(try form().refusal(expected([("ABC123DEFG", .ofAnotherKey)])) { $0 <= Self.now } == nil)
        #expect(try form().refusal(expected([("ABC123DEFG", .invalid)])) { $0 <= Self.now } == .unsigned)
    }

    @Test func appleRefusesWhatDoesNotStateTheIdsOfTheKeyThatSignedIt() throws {
        let ids = SecretForm.Expectation.Ids(
            team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID("ABC123DEFG")))
        let old = SecretForm.Expectation.Ids(team: ids.team, keyID: try #require(KeyID("XYZ123DEFG")))
        func refusal(
            _ form: SecretForm, _ signature: SecretForm.Expectation.Signature, signer: SecretForm.Expectation.Ids...
        ) throws -> Objection? {
            var expected = try expected([("ABC123DEFG", signature)])
            expected.signer = signer
            return form.refusal(expected) { $0 <= Self.now }
        }
        #expect(try refusal(form(), .valid, signer: ids) == nil)
        #expect(try refusal(form(keyID: "XYZ123DEFG"), .valid, signer: ids) == .otherKeyID(old.keyID))
        #expect(
            try refusal(form(team: "XYZ123GHIJ"), .valid, signer: ids) == .otherTeam(#require(TeamID("XYZ123GHIJ"))))
        #expect(try refusal(form(), .ofAnotherKey, signer: old) == .otherKey)
        // The configured key cannot be read, and another one has signed.
        #expect(try refusal(form(), .unchecked, signer: old) == .otherKey)
        // One key under two ids: which is right is not known.
        #expect(try refusal(form(keyID: "XYZ123DEFG"), .valid, signer: ids, old) == nil)
    }
}
