import AppleClientSecret
import TestSupport
import Testing

@testable import clientsecretd

/// What `init --from` takes from the files in which people keep their client secret.
@Suite struct FoundClientTests {
    private static func secret(of client: String = "com.example.web", expiringAt expiry: Int64 = 1_510_000_000)
        -> String
    {
        Claims.sample(of: client, issuedAt: 1_500_000_000, expiresAt: expiry).sampleText
    }

    /// A token whose parts are not what we mint.
    private static func token(_ header: String, _ payload: String) -> String {
        [header, payload].map { String(decoding: Base64URL.encode(Array($0.utf8)), as: UTF8.self) }.joined(
            separator: ".") + "."
            + String(repeating: "A", count: 86)
    }

    /// Of another issuer, as Supabase has two in its `.env`.
    private static let foreign = token(#"{"alg":"HS256"}"#, #"{"role":"anon","iss":"supabase","exp":1799535600}"#)

    /// A file's name and text, `@` standing for the secret, and where the secret is found.
    private static let files: [(String, String, FoundClient.Place)] = [
        (".env", "PORT=80\nAUTH_APPLE_SECRET=@\n", .variable("AUTH_APPLE_SECRET")),
        (".env.production", "APPLE_SECRET=\"@\"\n", .variable("APPLE_SECRET")),
        (".env", "APPLE_SECRET='@'\r\nB=2\r\n", .variable("APPLE_SECRET")),
        (".env", "export APPLE_SECRET=@\n", .variable("APPLE_SECRET")),
        (".env", "APPLE_SECRET='@' # expires in May\n", .variable("APPLE_SECRET")),
        (".env", "APPLE_SECRET=@  # expires in May\n", .variable("APPLE_SECRET")),
        (".env", "# old\n#APPLE_SECRET=@\nAPPLE_SECRET=@", .variable("APPLE_SECRET")),
        (".env", "ANON_KEY=\(foreign)\nGOTRUE_EXTERNAL_APPLE_SECRET=@\n", .variable("GOTRUE_EXTERNAL_APPLE_SECRET")),
        ("shop", "A=\"two\nlines\"\nAPPLE_SECRET=@\n", .variable("APPLE_SECRET")),
        ("shop.conf", "APPLE_SECRET=@\n", .variable("APPLE_SECRET")),
        ("web.jwt", "@", .whole(format: "raw")),
        ("secret", "@\n", .whole(format: "raw")),
        ("web.json", #"{"client_id": "com.example.web", "client_secret": "@"}"#, .whole(format: "json")),
        ("settings.json", "{\"port\": 80,\n \"client_secret\": \"@\"}", .unwritable(line: 1, reason: "")),
        ("settings.json", "{\"auth\":\n {\"apple\": \"@\"}}", .unwritable(line: 2, reason: "")),
        ("compose.yaml", "services:\n  web:\n    environment:\n      APPLE: @\n", .unwritable(line: 4, reason: "")),
        ("config.toml", "secret = \"@\"\n", .unwritable(line: 1, reason: "")),
        ("app.properties", "apple.secret=@\n", .unwritable(line: 1, reason: "")),
        ("application", "[apple]\nclient_secret = @\n", .unwritable(line: 2, reason: "")),
        ("shop.service", "[Service]\nEnvironment=APPLE_SECRET=@\n", .unwritable(line: 2, reason: "")),
        ("override.conf", "[Service]\nEnvironment=\"APPLE_SECRET=@\"\n", .unwritable(line: 2, reason: "")),
        ("services.php", "<?php return [\n'client_secret' => '@',\n];\n", .unwritable(line: 2, reason: "")),
        (".env", "#APPLE_SECRET=@\n", .unwritable(line: 1, reason: "")),
        (".envrc", "export PORT=80\nexport APPLE_SECRET=@\n", .unwritable(line: 2, reason: "")),
    ]

    @Test(arguments: files.indices) func aSecretAndItsPlaceAreFoundIn(_ index: Int) throws {
        let (name, text, place) = Self.files[index]
        let bytes = Array(text.replacing("@", with: Self.secret()).utf8)
        let found = FoundClient.all(in: bytes, of: "/srv/app/" + name)
        #expect(found.count == 1)
        let one = try #require(found.first)
        #expect(one.team?.description == "DEF123GHIJ")
        #expect(one.keyID?.description == "ABC123DEFG")
        #expect(one.client?.description == "com.example.web")
        if case .unwritable(let line, _) = place {
            guard case .unwritable(line, _) = one.place else {
                Issue.record("\(one.place)")
                return
            }
        } else {
            #expect(one.place == place)
        }
    }

    /// As other programs make them for Apple Ads, MusicKit, and MapKit JS: what each states, and its kind.
    private static let others: [(String, TokenKind)] = [
        (
            """
            {"iss":"SEARCHADS.27478e71-3bb0-4588-998c-182e2b405577","sub":"SEARCHADS.27478e71-3bb0-4588-998c-182e2b405577",\
            "aud":"https://appleid.apple.com","iat":1500000000,"exp":1515000000}
            """, .appleAds
        ),
        (#"{"iss":"DEF123GHIJ","iat":1500000000,"exp":1515000000}"#, .music),
        (#"{"iss":"DEF123GHIJ","iat":1500000000,"exp":1515000000,"origin":["https://a.example"]}"#, .music),
        (#"{"iss":"DEF123GHIJ","iat":1500000000,"exp":1515000000,"origin":"https://a.example"}"#, .maps),
        (#"{"iss":"DEF123GHIJ","iat":1500000000,"exp":1515000000,"scope":"server_api"}"#, .maps),
    ]

    @Test(arguments: others.indices) func aTokenOfAnotherKindIsFound(_ index: Int) throws {
        let (payload, kind) = Self.others[index]
        let id = kind == .appleAds ? "bacaebda-e219-41ee-a907-e2c25b24d1b2" : "ABC123DEFG"
        let token = Self.token(#"{"alg":"ES256","kid":"\#(id)"}"#, payload)
        let found = FoundClient.all(in: Array("PORT=80\nTOKEN=\(token)\n".utf8), of: "/srv/app/.env")
        let one = try #require(found.first)
        #expect(one.place == .variable("TOKEN"))
        #expect(one.client?.kind == kind)
        #expect(one.keyID?.description == id)
    }

    private static func tokenOfPages(_ origin: String) -> String {
        token(
            #"{"alg":"ES256","kid":"ABC123DEFG"}"#,
            #"{"iss":"DEF123GHIJ","iat":1500000000,"exp":1515000000,"origin":\#(origin)}"#)
    }

    /// The configuration takes no other form.
    @Test(arguments: [
        (#"["https://WWW.example.com:443","https://a.example/"]"#, "music:https://a.example,https://www.example.com"),
        (#""https://Www.example.com""#, "maps::https://www.example.com"),
        (#""https://www.example.com:8443""#, "maps::https://www.example.com:8443"),
    ])
    func anOriginIsTakenAsBrowsersSendIt(origin: String, client: String) throws {
        let found = FoundClient.all(in: Array("TOKEN=\(Self.tokenOfPages(origin))\n".utf8), of: "/srv/app/.env")
        #expect(found.map(\.client?.description) == [client])
        #expect(found.allSatisfy { $0.objection == nil })
    }

    @Test(arguments: [
        (#"["https://a.example","http://b.example"]"#, "--kind music"), (#""https://a.example/page""#, "--kind maps"),
    ])
    func anInvalidOriginIsNamedAndAskedForByItsFlag(origin: String, flag: String) throws {
        let found = FoundClient.all(in: Array("TOKEN=\(Self.tokenOfPages(origin))\n".utf8), of: "/srv/app/.env")
        let one = try #require(found.first)
        #expect(one.client == nil)
        let objection = try #require(one.objection)
        #expect(objection.contains(flag) && objection.contains("--origin"), "\(objection)")
    }

    /// An id that cannot be one of Apple's is asked for.
    @Test func idsThatCannotBeApplesAreLeftOut() throws {
        let token = Self.token(
            #"{"alg":"ES256"}"#, #"{"iss":"my team","sub":"com.example.web","aud":"https://appleid.apple.com"}"#)
        let found = try #require(FoundClient.all(in: Array(token.utf8), of: "/srv/secret").first)
        #expect(found.team == nil)
        #expect(found.keyID == nil)
        #expect(found.client?.description == "com.example.web")
    }

    @Test(arguments: ["", "A=1\n", "APPLE=\(foreign)\n", "APPLE_SECRET=eyJhbGciOiJFUzI1NiJ9.e30\n", "\u{0}\u{1}"])
    func nothingElseIsTakenAsOne(_ text: String) {
        #expect(FoundClient.all(in: Array(text.utf8), of: "/srv/app/.env").isEmpty)
    }

    @Test func ofSeveralOneIsChosen() throws {
        let text = "A=\(Self.secret())\nB=\(Self.secret(of: "com.example.shop"))\n"
        let bytes = Array(text.utf8)
        let name = "/srv/app/.env"
        let found = FoundClient.all(in: bytes, of: name)
        #expect(found.map(\.variable) == ["A", "B"])
        #expect(
            FoundClient.ambiguous(found, in: name)
                == CommandFailure(
                    .usage, "/srv/app/.env holds several Apple client secrets, in A, B; choose one with --variable"))
        #expect(FoundClient.all(in: bytes, of: name, variable: "B").map(\.variable) == ["B"])
        #expect(FoundClient.all(in: bytes, of: name, client: ClientID("com.example.shop")).map(\.variable) == ["B"])
        #expect(FoundClient.all(in: bytes, of: name, variable: "C").isEmpty)
        // What a flag says overrides what a secret says.
        #expect(FoundClient.all(in: bytes, of: name, client: ClientID("com.example.other")).count == 2)
    }

    /// The file is parsed for each, and one of somebody else's may have thousands.
    @Test func ofTooManyTheFirstAreOffered() throws {
        let secret = Self.secret()
        let text = (0..<200).map { "V\($0)=\(secret)\n" }.joined()
        #expect(FoundClient.all(in: Array(text.utf8), of: "/srv/app/.env").count == 20)
    }

    /// Of each variable the last assignment counts, and the file is parsed only once for it.
    @Test(.timeLimit(.minutes(1))) func aVariableMayBeAssignedOften() throws {
        let line = "SECRET=\(Self.secret())\n"
        let last = "SECRET=\(Self.secret(of: "com.example.shop"))\n"
        let text = String(repeating: line, count: 200_000 / line.utf8.count) + last
        let found = FoundClient.all(in: Array(text.utf8), of: "/srv/app/.env")
        #expect(found.map(\.client?.description) == ["com.example.shop"])
    }

    /// In text only clients can be told apart.
    @Test func ofOneClientsSeveralInTextTheLastToExpireCounts() throws {
        let text = "a: \(Self.secret())\nb: \(Self.secret(expiringAt: 1_520_000_000))\n"
        let found = FoundClient.all(in: Array(text.utf8), of: "/srv/app/config.yaml")
        #expect(found.map(\.expiresAt?.secondsSinceEpoch) == [1_520_000_000])
    }

    @Test func aKeyInItsPlaceIsNamed() {
        let text = "-----BEGIN PRIVATE KEY-----\nMIG\n-----END PRIVATE KEY-----\n"
        #expect(
            FoundClient.missing(in: Array(text.utf8), of: "/k.p8", variable: nil).message
                == "/k.p8: there is no Apple client secret in it; it holds a private key: name it with --key")
    }
}
