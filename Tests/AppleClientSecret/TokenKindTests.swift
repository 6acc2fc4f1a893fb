import AppleClientSecret
import TestSupport
import Testing

/// Each kind of token: what is minted, how it is recognised, and by which rules it is judged.
@Suite struct TokenKindTests {
    private static let now = WallTime(secondsSinceEpoch: 1_795_235_460)
    private static let ads = "SEARCHADS.27478e71-3bb0-4588-998c-182e2b405577"
    private static let uuid = "bacaebda-e219-41ee-a907-e2c25b24d1b2"

    private static let tenCharacterHeader = #"{"alg":"ES256","kid":"ABC123DEFG"}"#
    private static let times = #""iss":"DEF123GHIJ","iat":1795235400,"exp":1795239060"#

    /// A client, and the header and the claims of its token: the facts about each kind, by Apple's pages.
    private static let minted: [(client: String, kind: TokenKind, header: String, claims: String)] = [
        (
            "com.example.web", .signIn, CompactJWSTests.header,
            "{\(times),\"aud\":\"https://appleid.apple.com\",\"sub\":\"com.example.web\"}"
        ),
        (
            ads, .appleAds, "{\"alg\":\"ES256\",\"kid\":\"\(uuid)\"}",
            "{\"iss\":\"\(ads)\",\"iat\":1795235400,\"exp\":1795239060,\"aud\":\"https://appleid.apple.com\",\"sub\":\"\(ads)\"}"
        ),
        ("music:", .music, tenCharacterHeader, "{\(times)}"),
        (
            "music:https://a.example,https://b.example:8443", .music, tenCharacterHeader,
            "{\(times),\"origin\":[\"https://a.example\",\"https://b.example:8443\"]}"
        ),
        ("maps::", .maps, CompactJWSTests.header, "{\(times)}"),
        ("maps:server_api:", .maps, CompactJWSTests.header, "{\(times),\"scope\":\"server_api\"}"),
        (
            "maps:mapkit_js:https://a.example", .maps, CompactJWSTests.header,
            "{\(times),\"origin\":\"https://a.example\",\"scope\":\"mapkit_js\"}"
        ),
    ]

    @Test(arguments: minted.indices) func statesWhatAppleWantsAndIsRecognised(index: Int) throws {
        let (text, kind, header, claims) = Self.minted[index]
        let client = try #require(ClientID(text))
        #expect(client.description == text && client.kind == kind)
        let isAds = kind == .appleAds
        let all = Claims(
            issuer: try #require(TeamID(isAds ? Self.ads : "DEF123GHIJ")),
            keyID: try #require(KeyID(isAds ? Self.uuid : "ABC123DEFG")), subject: client, now: Self.now,
            lifetime: try #require(Lifetime(seconds: 3_600)))
        let parts = [header, claims].map { Base64URL.encode(Array($0.utf8)) }
        #expect(all.signingInput == Array(parts.joined(separator: [UInt8(ascii: ".")])))
        let jws = try CompactJWS(CompactJWSTests.token(header: header, payload: claims))
        #expect(jws.objections == [] && jws.claims == all && jws.stated.kind == kind)
    }

    /// By the row of each kind; the margin covers a clock that runs fast.
    @Test func theLongestLifetimeIsTheKinds() {
        let longest: [TokenKind: Int64] = [
            .signIn: 15_776_700, .appleAds: 15_551_700, .music: 15_776_700, .maps: 31_622_400,
        ]
        for (kind, seconds) in longest {
            #expect(Lifetime(seconds: Seconds(seconds), of: kind) == .longest(of: kind))
            #expect(Lifetime(seconds: Seconds(seconds + 1), of: kind) == nil)
            #expect(Lifetime(seconds: 59, of: kind) == nil)
        }
        #expect(longest.count == TokenKind.allCases.count)
    }

    /// Seconds from now of `exp`, of tokens issued a minute ago, and whether Apple takes them.
    private static let limits: [(client: String, expires: Int64, isAccepted: Bool)] = [
        ("music:", 15_777_000, true), ("music:", 15_777_001, false), ("maps::", 34_560_000, true),
        ("maps:server_api:", 34_560_000, true), (ads, 15_551_940, true), (ads, 15_551_941, false),
    ]

    @Test(arguments: limits.indices) func theLimitIsTheKinds(index: Int) throws {
        let (text, expires, isAccepted) = Self.limits[index]
        let now = Self.now.secondsSinceEpoch
        let form = SecretForm(Claims.sample(of: text, issuedAt: now - 60, expiresAt: now + expires))
        #expect((form.objectionToTimes { $0 <= Self.now } == nil) == isAccepted)
    }

    /// Many programs write `typ` into MusicKit's tokens: only who uses it tells what such a token is for.
    @Test func aTokenWithoutRestrictionsIsJudgedByItsUse() throws {
        let payload = "{\(Self.times)}".replacing("1795239060", with: "1895239060")
        let form = try #require(CompactJWS(CompactJWSTests.token(payload: payload)).form)
        let (music, maps) = (ClientID.music(), try #require(ClientID.maps()))
        #expect(music.accepts(form.claims.subject) && maps.accepts(form.claims.subject))
        func refusal(_ client: ClientID) -> Objection? {
            form.refusal(SecretForm.Expectation(client: client)) { $0 <= Self.now }
        }
        #expect(refusal(maps) == nil)
        #expect(refusal(music) == .tooLong(WallTime(secondsSinceEpoch: 1_895_239_060)))
    }

    @Test func aTokenForOtherPagesIsAnotherClients() throws {
        let one = try #require(WebOrigin("https://a.example"))
        let other = try #require(WebOrigin("https://b.example"))
        #expect(ClientID.music(origins: [one, other]) == .music(origins: [other, one, other]))
        #expect(!ClientID.music(origins: [one]).accepts(.music(origins: [other])))
        #expect(!ClientID.music(origins: [one]).accepts(.music()) && !ClientID.music().accepts(.music(origins: [one])))
        #expect(ClientID.maps(origin: one)?.accepts(.music(origins: [one])) == false)
    }

    /// Part of a good token, what becomes of it, and why Apple then refuses it.
    private static let refused: [(index: Int, part: String, becomes: String, objection: Objection)] = [
        (3, #"["https://a.example","https://b.example:8443"]"#, "[7]", .unstated("origin")),
        (3, #"["https://a.example","https://b.example:8443"]"#, "[]", .unstated("origin")),
        (3, "https://a.example", "https://a.example/page", .unstated("origin")),
        (6, #""https://a.example""#, #"["https://a.example"]"#, .unstated("origin")),
        (5, "server_api", "server", .unstated("scope")), (5, #""server_api""#, "7", .unstated("scope")),
        (1, uuid, "ABC123DEFG", .unstated("kid")), (1, #""sub":"SEARCHADS."#, #""sub":"com."#, .unstated("sub")),
        (1, #""iss":"SEARCHADS.27478e71-3bb0-4588-998c-182e2b405577""#, #""iss":"DEF123GHIJ""#, .unstated("iss")),
        (1, "https://appleid.apple.com", "https://api.searchads.apple.com", .audience),
        (0, "com.example.web", ads, .unstated("kid")),
    ]

    @Test(arguments: refused.indices) func claimsThatDoNotFitTheKindAreNamed(row: Int) throws {
        let (index, part, becomes, objection) = Self.refused[row]
        let (_, _, header, claims) = Self.minted[index]
        let changed = (header.replacing(part, with: becomes), claims.replacing(part, with: becomes))
        try #require(changed != (header, claims))
        let jws = try CompactJWS(CompactJWSTests.token(header: changed.0, payload: changed.1))
        #expect(jws.objections.first == objection && jws.form == nil)
    }

    @Test(arguments: [
        "music", "musik:", "music:https://a.example,", "music:https://b.example,https://a.example", "music:http",
        "music:https://a.example,https://a.example", "maps:", "maps:other:", "maps::a.example", "maps::https://a/b",
        ":",
    ])
    func otherTextsNameNoClientOfOtherKinds(text: String) {
        #expect(ClientID(text).map(\.kind.hasClient) ?? true)
    }

    @Test func anIdFitsOneKind() throws {
        #expect(TeamID(Self.ads)?.form == .searchAds && KeyID(Self.uuid)?.form == .searchAds)
        for text in ["SEARCHADS.", "SEARCHADS", "searchads.1", "SEARCHADS.a_b"] { #expect(TeamID(text) == nil) }
        for text in ["bacaebda-e219-41ee-a907-e2c25b24d1b", "bacaebdae21941eea907e2c25b24d1b2", Self.uuid + "0"] {
            #expect(KeyID(text) == nil)
        }
        let (web, ads) = (try #require(ClientID("com.example.web")), try #require(ClientID(Self.ads)))
        func words(_ kind: TokenKind, _ client: ClientID?, _ origins: [WebOrigin] = [], _ scope: String? = nil)
            -> String?
        {
            do throws(KindMisfit) {
                _ = try kind.client(client, origins: origins, scope: scope)
                return nil
            } catch {
                return error.words
            }
        }
        let origin = try #require(WebOrigin("https://a.example"))
        #expect(words(.signIn, web) == nil && words(.appleAds, ads) == nil && words(.music, nil, [origin]) == nil)
        #expect(words(.maps, nil, [origin], "mapkit_js") == nil)
        #expect(words(.signIn, ads)?.contains(#"write "kind: apple_ads""#) == true)
        #expect(words(.appleAds, web)?.contains(#"write "kind: sign_in""#) == true)
        #expect(words(.music, web)?.contains("has no client id") == true)
        #expect(words(.signIn, web, [origin])?.contains("unlike music or maps") == true)
        #expect(words(.maps, nil, [origin, origin])?.contains("has one origin") == true)
        #expect(words(.music, nil, [], "mapkit_js")?.contains("unlike maps") == true)
        #expect(words(.maps, nil, [], "all")?.contains("mapkit_js or server_api") == true)
        let (team, keyID) = (try #require(TeamID(Self.ads)), try #require(KeyID(Self.uuid)))
        #expect(TokenKind.signIn.misfit(team: team, keyID: keyID) == .team(team, .signIn))
        #expect(TokenKind.appleAds.misfit(team: team, keyID: keyID) == nil)
    }
}
