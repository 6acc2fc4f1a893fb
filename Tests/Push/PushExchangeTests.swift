import AppleClientSecret
import Digest
import Failures
import Model
import TestSupport
import Testing

@testable import Push

/// What is asked of an API whose answers a test makes.
@Suite struct PushExchangeTests {
    private typealias Place = ScriptedPlace

    /// It was written, and seen there.
    private static let written = PushResult.published(PushPlaceReading(holds: true, use: .used), at: Place.now)
    /// What a place holds that has the other secret of the tests.
    private static let another = PushPlaceContent.secret(expiresAt: WallTime(secondsSinceEpoch: 1_800_000_000))

    // MARK: Pauses between writes to AWS

    /// AWS Secrets Manager with a version that was created so many seconds ago.
    private func publish(
        createdAgo seconds: Int64, version: String, dated isDated: Bool = true, writtenAgo: Int64? = nil
    ) -> (result: PushResult, operations: [String]) {
        publish(
            created: "\(1_800_000_000 - seconds).25", version: version, dated: isDated, writtenAgo: writtenAgo)
    }

    private func publish(
        created: String, version: String, dated isDated: Bool = true, writtenAgo: Int64? = nil
    ) -> (result: PushResult, operations: [String]) {
        var held = "eyJ.an.other"
        var operations: [String] = []
        let request = PushRoleRequest(.publish, secret: Place.secret, writtenAt: writtenAgo.map(Place.ago))
        let result = Place.aws.exchange(request) { request in
            let operation = request.headers.first { $0.name == "X-Amz-Target" }?.value ?? ""
            operations.append(String(operation.dropFirst("secretsmanager.".count)))
            if request.isPutToAWS { held = PushBed.secrets[0] }
            let body =
                #"{"Name":"apple","VersionId":"\#(version)","CreatedDate":\#(created),"SecretString":"\#(held)"}"#
            return .success(
                HTTPAnswer(
                    status: 200, body: Array(body.utf8), date: isDated ? Place.now : nil, receivedAt: Place.now))
        }
        return (result, operations)
    }

    /// AWS keeps a hundred versions of a secret, and asks for no more than one write in ten minutes.
    @Test func aVersionOfOursStandsForTenMinutes() throws {
        for seconds: Int64 in [0, 1, 599] {
            let (result, operations) = publish(createdAgo: seconds, version: "clientsecretd-0123")
            let failure = try #require(result.failure, "it was replaced after \(seconds) s")
            #expect(failure.code == .pushRateLimited)
            #expect(failure.retryAfter == Int(600 - seconds))
            #expect(operations == ["GetSecretValue"])
        }
        let (result, operations) = publish(createdAgo: 600, version: "clientsecretd-0123")
        #expect(result == Self.written)
        #expect(operations == ["GetSecretValue", "PutSecretValue", "GetSecretValue"])
    }

    /// What is read may be older, of another program, or without a date.
    @Test func ourOwnWriteCountsWhateverIsShown() throws {
        for (version, isDated) in [("0123", true), ("0123", false), ("clientsecretd-0123", false)] {
            for (seconds, wait) in [(0, 60), (300, 60), (590, 10)] as [(Int64, Int)] {
                let (result, operations) = publish(
                    createdAgo: 7_776_000, version: version, dated: isDated, writtenAgo: seconds)
                let failure = try #require(result.failure, "it was replaced after \(seconds) s")
                #expect(failure.code == .pushRateLimited)
                #expect(failure.retryAfter == wait)
                #expect(operations == ["GetSecretValue"])
            }
            let later = publish(createdAgo: 7_776_000, version: version, dated: isDated, writtenAgo: 600)
            #expect(later.result == Self.written)
        }
    }

    /// What an API calls a time may be any number.
    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1e300", "null"])
    func aTimeThatCannotBeDelaysNothing(created: String) {
        #expect(publish(created: created, version: "clientsecretd-0123").result == Self.written)
    }

    /// Nor does a clock that is wrong delay anything for longer.
    @Test func anothersVersionIsReplacedAtOnce() {
        #expect(publish(createdAgo: 1, version: "0123").result == Self.written)
        #expect(publish(createdAgo: -1, version: "clientsecretd-0123").result == Self.written)
        #expect(publish(createdAgo: 1, version: "clientsecretd-0123", dated: false).result == Self.written)
    }

    // MARK: What is not written over

    /// Each kind, and its answer if the place shows `HELD`. Some APIs usually show no value there, or a digest.
    private static let shownValues: [(Place, answer: String)] = [
        (.supabase, #"{"external_apple_secret":"HELD"}"#),
        (.vercel, #"{"envs":[{"key":"SECRET","type":"plain","target":["production"],"value":"HELD"}]}"#),
        (.vercel, #"{"envs":[{"key":"SECRET","type":"plain","target":["production","preview"],"value":"HELD"}]}"#),
        (.netlify, variable(false, "production", "HELD")), (.netlify, variable(true, "production", "HELD")),
        (
            .pocketbase,
            #"{"id":"1","oauth2":{"providers":[{"name":"apple","clientId":"com.example.web","clientSecret":"HELD"}]}}"#
        ),
        (.kubernetes, #"{"kind":"Secret","data":{"k":"BASE64"}}"#),
        (.vault, #"{"data":{"data":{"client_secret":"HELD"},"metadata":{"version":3}}}"#),
        (.aws, #"{"Name":"apple","VersionId":"0123","SecretString":"HELD"}"#),
        (Place.aws.with("field", "web"), #"{"Name":"apple","VersionId":"0123","SecretString":"{\"web\":\"NESTED\"}"}"#),
        (.http(reading: []), #""HELD""#), (.http(reading: ["secret"]), #"{"secret":"HELD"}"#),
    ]

    /// A `.p8` can be downloaded only once.
    @Test func aPrivateKeyInTheSecretsPlaceIsNotOverwritten() throws {
        let kinds = Set(Self.shownValues.map { $0.0.kind.name })
        #expect(kinds == Set(PushKind.all.map(\.name) + ["http"]), "a kind has no row")
        let pem = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n"
        for text in [pem, Base64.encode(Array(pem.utf8))] {
            try keeps(text, because: "it holds a private key, which is never overwritten")
        }
    }

    /// The rest of the value would be lost.
    @Test func aValueThatHoldsMoreThanASecretIsNotOverwritten() throws {
        let token = "eyJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL2dvb2dsZS5jb20ifQ." + String(repeating: "A", count: 86)
        try keeps("https://h/?s=" + token, because: "it holds more than a client secret, and the rest would be lost")
    }

    /// Expects that no kind writes over this text in the secret's place.
    private func keeps(_ text: String, because detail: String) throws {
        for (place, answer) in Self.shownValues {
            let shown = answer.replacing("HELD", with: text.replacing("\n", with: "\\n"))
                .replacing("NESTED", with: text.replacing("\n", with: "\\\\n"))
                .replacing("BASE64", with: Base64.encode(Array(text.utf8)))
            // A daemon that has written there before overwrites other values.
            for wasWritten in [false, true] {
                let request = PushRoleRequest(.publish, secret: Place.secret, wasWritten: wasWritten)
                var (reads, writes) = (0, 0)
                let result = place.exchange(request) { request in
                    guard let accepted = Self.accept(request, at: place.kind) else {
                        reads += 1
                        return Place.answer(200, shown)
                    }
                    if !accepted.1.contains("session") { writes += 1 }
                    return Place.answer(200, accepted.1)
                }
                let failure = try #require(result.failure, "\(place.kind.name): it was overwritten")
                #expect(failure.code == .pushPlaceUnsuitable && writes == 0, "\(place.kind.name): \(failure)")
                #expect(reads == 1, "\(place.kind.name)")
                #expect(failure.detail == detail)
                #expect(failure.placeContent == .unusable)
            }
        }
    }

    /// Bytes that are no text.
    @Test func aKeyInDERInAClusterIsNotOverwritten() throws {
        let key: [UInt8] = [0x30, 0x81, 0x87, 2, 1, 0, 0x30, 0x13] + Array(repeating: 0xFE, count: 130)
        let result = Place.kubernetes.ask { request in
            #expect(request.method == "GET")
            return (200, #"{"kind":"Secret","data":{"k":"\#(Base64.encode(key))"}}"#)
        }
        #expect(result.failure?.code == .pushPlaceUnsuitable, "\(result)")
    }

    /// JSON allows both: what is said of them has to be true.
    @Test(arguments: [
        (String(repeating: "[", count: 200) + String(repeating: "]", count: 200), "JSON that is deeper than 32 levels"),
        ("1e400", "JSON with a number that is too large"),
    ])
    func anUnreadableValueOfOthersIsNotChanged(value: String, words: String) throws {
        let secret = #"{"other":\#(value)}"#
        let document = JSONText.string(secret).rendered
        let results = [
            Place.vault.ask { request in
                #expect(request.method == "GET")
                return (200, #"{"data":{"data":\#(secret),"metadata":{"version":3}}}"#)
            },
            Place.aws.with("field", "web").ask { request in
                #expect(!request.isPutToAWS)
                return (200, #"{"Name":"apple","VersionId":"0123","SecretString":\#(document)}"#)
            },
        ]
        for result in results {
            let failure = try #require(result.failure, "\(result)")
            #expect(failure.code == .pushPlaceUnsuitable)
            #expect(failure.detail?.contains(words) == true, "\(failure)")
        }
    }

    /// Its secret may never be shown again, and Apple refuses ours there.
    @Test func aPlaceOfAnotherClientIsNotWritten() throws {
        func pocketbase(_ client: String) -> PushResult {
            Place.pocketbase.ask { request in
                if request.method == "POST" { return (200, #"{"token":"session"}"#) }
                let provider = #"{"name":"apple","clientId":"\#(client)","clientSecret":""}"#
                let google = #"{"name":"google","clientId":"com.example.web","clientSecret":""}"#
                return (200, #"{"id":"1","oauth2":{"providers":[\#(google),\#(provider)]}}"#)
            }
        }
        func supabase(
            _ client: String, _ verb: PushRoleRequest.Verb = .publish, also others: String = ""
        ) -> PushResult {
            Place.supabase.ask(verb) { request in
                let secret = request.method == "PATCH" || verb == .read ? PushBed.secrets[0] : ""
                let more = #""external_apple_additional_client_ids":"\#(others)","external_apple_secret":"\#(secret)""#
                return (200, #"{"external_apple_client_id":"\#(client)",\#(more)}"#)
            }
        }
        for result in [
            pocketbase("com.other.app"), supabase("com.other.app"), supabase("com.other.app", .read),
            supabase("com.example.web2, com.other.app"),
            // Supabase uses the secret with the first id only.
            supabase("com.example.app, com.example.web"), supabase(" ,com.example.app,com.example.web"),
            supabase("", also: "com.example.app"),
        ] {
            let failure = try #require(result.failure, "\(result)")
            #expect(failure.code == .pushOtherClient && result == .failed(failure))
            #expect(failure.detail?.hasSuffix("and the secret is for com.example.web") == true, "\(failure)")
        }
        // Set up for this one, also with others for native apps, or for none yet.
        for result in [
            pocketbase("com.example.web"), pocketbase(""), supabase(""), supabase("com.example.web, com.example.app"),
            supabase("com.example.web", also: "com.example.app"), supabase("", also: "com.example.web"),
        ] {
            #expect(result.failure == nil)
        }
    }

    private static func token(_ parts: String...) -> String {
        (parts + ["signature"]).map { String(decoding: Base64URL.encode(Array($0.utf8)), as: UTF8.self) }
            .joined(separator: ".")
    }

    /// As in a file of format `raw`.
    @Test(arguments: [
        ("GOCSPX-abcdefghijklmnopqrstuvwxyz12", "0123", false, false), ("postgres://app:pw@db", "0123", false, false),
        ("changeme", "0123", false, false), (" ", "0123", false, true), ("eyJ.damaged", "0123", false, false),
        ("eyJ.da.maged", "0123", false, true), (PushBed.secrets[1], "0123", false, true),
        // Of other issuers: Supabase's service_role key, and the token of a service account.
        (token(#"{"alg":"HS256","typ":"JWT"}"#, #"{"iss":"supabase","role":"service_role"}"#), "0123", false, false),
        (token(#"{"alg":"RS256"}"#, #"{"iss":"https://kubernetes.default.svc","sub":"x"}"#), "0123", false, false),
        // What this daemon wrote, or where it has written before.
        ("changeme", "clientsecretd-0123", false, true), ("changeme", "0123", true, true),
    ])
    func whatIsNoClientSecretIsNotOverwrittenAsAWhole(held: String, version: String, wasWritten: Bool, isWritten: Bool)
        throws
    {
        for place in [Place.http(reading: []), .aws] {
            let isCustom = place.kind.isCustom
            // Only AWS says who wrote.
            if isCustom, version.hasPrefix("clientsecretd-") { continue }
            var text = held
            let request = PushRoleRequest(.publish, secret: Place.secret, wasWritten: wasWritten)
            let result = place.exchange(request) { request in
                if request.method == "PUT" || request.isPutToAWS { text = PushBed.secrets[0] }
                return Place.answer(
                    200,
                    isCustom
                        ? #""\#(text)""# : #"{"Name":"apple","VersionId":"\#(version)","SecretString":"\#(text)"}"#)
            }
            #expect((text != held) == isWritten, "\(place.kind.name): \(result)")
            guard !isWritten else { continue }
            let failure = try #require(result.failure, "\(result)")
            #expect(failure.code == .pushPlaceUnsuitable && result == .failed(failure))
            #expect(failure.detail?.contains(held) == false)
        }
    }

    /// What can be read of a text that has no members: an application finds no secret there. Only a blank one is replaced.
    @Test(
        arguments: [
            ("", .nothing, true), (" ", .nothing, true), ("changeme", .unusable, false), ("[]", .unusable, false),
            (#"{\"a\":1,\"a\":2}"#, .something, false),
        ] as [(String, PushPlaceContent, Bool)])
    func aTextWithoutMembersHoldsNoSecret(held: String, content: PushPlaceContent, isWritten: Bool) throws {
        let place = Place.aws.with("field", "web")
        let shown = #"{"Name":"apple","VersionId":"1","SecretString":"\#(held)"}"#
        let read = place.ask(.read, body: shown)
        #expect(read == .read(PushPlaceReading(holds: false, instead: content, use: .used)))
        var sent: String?
        let result = place.ask { request in
            if request.isPutToAWS { sent = request.text }
            return (200, shown)
        }
        #expect((sent != nil) == isWritten, "\(result)")
        if isWritten {
            #expect(sent?.contains(#""SecretString":"{\"web\":\""#) == true)
        } else {
            #expect(result.failure?.code == .pushPlaceUnsuitable && result.failure?.placeContent == content)
        }
    }

    // MARK: What a place shows

    /// It is pushed to all the same. A warning names what shows it.
    @Test func aPlaceThatIsSwitchedOffIsNamed() {
        func supabase(_ settings: String, _ verb: PushRoleRequest.Verb) -> PushResult {
            Place.supabase.ask(verb, body: #"{\#(settings)"external_apple_secret":"\#(PushBed.secrets[0])"}"#)
        }
        func pocketbase(_ enabled: String, _ rule: String, _ verb: PushRoleRequest.Verb) -> PushResult {
            Place.pocketbase.ask(verb) {
                let provider = #"{"name":"apple","clientId":"com.example.web","clientSecret":""}"#
                return $0.method == "POST"
                    ? (200, #"{"token":"session"}"#)
                    : (200, #"{"id":"1",\#(rule)"oauth2":{\#(enabled)"providers":[\#(provider)]}}"#)
            }
        }
        func kubernetes(_ metadata: String, _ verb: PushRoleRequest.Verb) -> PushResult {
            let secret = Base64.encode(Array(PushBed.secrets[0].utf8))
            return Place.kubernetes.ask(verb, body: #"{"kind":"Secret",\#(metadata)"data":{"k":"\#(secret)"}}"#)
        }
        let kinds: [((String, PushRoleRequest.Verb) -> PushResult, off: String, on: String, words: String)] = [
            (
                supabase, #""external_apple_enabled":false,"#, #""external_apple_enabled":true,"#,
                "external_apple_enabled is false"
            ),
            (
                { pocketbase($0, "", $1) }, #""enabled":false,"#, #""enabled":true,"#, "oauth2.enabled is false"
            ),
            (
                { pocketbase("", $0, $1) }, #""authRule":null,"#, #""authRule":"verified = true","#,
                "authRule is null, and the collection lets no user log in"
            ),
            (
                kubernetes, #""metadata":{"deletionTimestamp":"2026-11-29T20:00:00Z"},"#, #""metadata":{},"#,
                "metadata.deletionTimestamp is a text, and the Secret is being deleted"
            ),
        ]
        for (kind, off, on, words) in kinds {
            for (settings, use) in [(off, .unused(words)), (on, .used), ("", .used)] as [(String, PushPlaceUse?)] {
                for verb in [PushRoleRequest.Verb.publish, .read] {
                    let result = kind(settings, verb)
                    #expect(result.shown.map { $0.use == use && $0.holds != false } == true, "\(settings): \(result)")
                }
            }
        }
    }

    /// The API has shown what is there before it refused the write.
    @Test func whatAPlaceHoldsIsNamedWithTheFailure() {
        for (status, data, content) in [
            (404, "null", .nothing), (200, "{}", .nothing), (200, #"{"client_secret":"old"}"#, .unusable),
            (200, #"{"client_secret":"-----BEGIN PRIVATE KEY-----"}"#, .unusable),
            (200, #"{"client_secret":"\#(PushBed.secrets[1])"}"#, Self.another), (500, "{}", nil),
        ] as [(Int, String, PushPlaceContent?)] {
            let result = Place.vault.ask { request in
                request.method == "GET"
                    ? (status, #"{"data":{"data":\#(data),"metadata":{"version":3}}}"#)
                    : (429, #"{"errors":["slow down"]}"#)
            }
            #expect(result.failure.map { $0.placeContent == content } == true, "\(status) \(data): \(result)")
        }
        let variable = #"{"key":"SECRET","target":["production"]}"#
        for (variables, content) in [("", .nothing), (variable, .something)] as [(String, PushPlaceContent)] {
            let result = Place.vercel.ask { request in
                request.method == "GET" ? (200, #"{"envs":[\#(variables)]}"#) : (429, "{}")
            }
            #expect(result.failure?.placeContent == content, "\(result)")
        }
    }

    /// Said with every answer that it is not there.
    @Test func whatIsThereInsteadIsNamed() {
        for (held, content) in [
            ("null", .nothing), (#""changeme""#, .unusable), (#""\#(PushBed.secrets[1])\n""#, Self.another),
        ] as [(String, PushPlaceContent)] {
            let reading = PushPlaceReading(holds: false, instead: content, use: .used)
            let place = Place.http(reading: ["secret"])
            let body = #"{"secret":\#(held)}"#
            #expect(place.ask(body: body) == .published(reading, at: Place.now))
            #expect(place.ask(.read, body: body) == .read(reading))
        }
        let secret = Base64.encode(Array(PushBed.secrets[1].utf8))
        let kubernetes = Place.kubernetes.ask(.read, body: #"{"kind":"Secret","data":{"k":"\#(secret)"}}"#)
        #expect(kubernetes == .read(PushPlaceReading(holds: false, instead: Self.another, use: .used)))
    }

    /// A write that is accepted, and changes nothing.
    private static func accept(_ request: PushHTTPRequest, at kind: PushKind) -> (Int, String)? {
        let operation = request.headers.first { $0.name == "X-Amz-Target" }?.value
        let isRead = operation.map { $0.hasSuffix("GetSecretValue") } ?? (request.method == "GET")
        if kind.name == "pocketbase", request.method == "POST" { return (200, #"{"token":"session"}"#) }
        return isRead ? nil : (200, #"{"id":"1","key":"SECRET","created":{"key":"SECRET"}}"#)
    }

    /// A variable of Netlify with this value in this context.
    private static func variable(_ isSecret: Bool, _ context: String, _ value: String) -> String {
        #"{"key":"SECRET","is_secret":\#(isSecret),"values":[{"context":"\#(context)","value":"\#(value)"}]}"#
    }

    /// What each kind shows of a place, and what it holds instead of the secret.
    private static let places: [(Place, shown: String, holds: Bool?, PushPlaceContent?)] = [
        (.supabase, #"{"external_apple_secret":null}"#, false, .nothing),
        (.supabase, #"{"external_apple_secret":""}"#, false, .nothing),
        (.netlify, #"{"key":"SECRET","is_secret":true,"values":[]}"#, false, .nothing),
        (.netlify, variable(true, "deploy-preview", "****"), false, .nothing),
        (.netlify, variable(true, "production", "****"), nil, nil),
        (.netlify, variable(false, "dev", "local"), false, .nothing),
        (.vercel, #"{"envs":[]}"#, false, .nothing),
        (.vercel, #"{"envs":[{"key":"SECRET","target":["preview"]}]}"#, false, .nothing),
        (.vercel, #"{"envs":[{"key":"SECRET","target":["production"]}]}"#, nil, nil),
        (.kubernetes, #"{"kind":"Secret","data":{"other":"b2xk"}}"#, false, .nothing),
        (.vault, #"{"data":{"data":{"other":"old"},"metadata":{"version":3}}}"#, false, .nothing),
        (Place.aws.with("field", "web"), #"{"Name":"apple","SecretString":"{}"}"#, false, .nothing),
    ]

    /// A place that is there and holds nothing is not one whose secret is never shown.
    @Test(arguments: places.indices) func whetherAPlaceHoldsAnythingIsSeen(_ index: Int) {
        let (place, shown, holds, content) = Self.places[index]
        for verb in [PushRoleRequest.Verb.read, .publish] {
            let result = place.ask(verb) { Self.accept($0, at: place.kind) ?? (200, shown) }
            // It is read once in a while, even if the secret is never shown.
            #expect(
                result.shown == PushPlaceReading(holds: holds, instead: content, use: .used), "\(verb): \(result)")
        }
    }

    /// By the same judgement as before a write.
    @Test func aReadSeesThatAPlaceIsMissing() throws {
        func ask(_ verb: PushRoleRequest.Verb, _ name: String) -> PushResult {
            let provider = #"{"name":"\#(name)","clientId":"","clientSecret":""}"#
            return Place.pocketbase.ask(verb) {
                Self.accept($0, at: .pocketbase)
                    ?? (200, #"{"id":"1","oauth2":{"enabled":true,"providers":[\#(provider)]}}"#)
            }
        }
        #expect(ask(.read, "apple") == .read(PushPlaceReading(holds: nil, use: .used)))
        #expect(ask(.read, "google") == .read(PushPlaceReading(holds: false, instead: .nothing, use: .used)))
        let failure = try #require(ask(.publish, "google").failure)
        #expect(failure.code == .pushPlaceMissing && failure.placeContent == .nothing)
        #expect(failure.detail == "there is no provider apple in the collection")
    }

    /// One for only some of our environments leaves the others without the secret.
    @Test(
        arguments: [
            (#"["preview"]"#, false), (#"["production","preview"]"#, nil),
            (#"["production","preview","development"]"#, nil),
        ] as [(String, Bool?)])
    func aVariableIsThereIfEachEnvironmentHasIt(environments: String, holds: Bool?) throws {
        let result = Place.vercel.with("environments", #"["production","preview"]"#).ask(
            .read, body: #"{"envs":[{"key":"SECRET","target":\#(environments)}]}"#)
        let reading = try #require(result.shown)
        #expect(reading.holds == holds && reading.instead == (holds == false ? .nothing : nil))
    }

    /// An application finds it, and cannot use it.
    @Test(arguments: ["5", "{}", "true"]) func aMemberThatIsNoTextIsNotAbsent(value: String) {
        let result = Place.aws.with("field", "web").ask(
            .read, body: #"{"Name":"apple","SecretString":"{\"web\":\#(value)}"}"#)
        #expect(result == .read(PushPlaceReading(holds: false, instead: .unusable, use: .used)))
    }

    /// To a token without rights, an API may answer that there is nothing.
    @Test func aPlaceThatMayOnlyBeHiddenIsNotEmpty() throws {
        for place in [Place.netlify, .vercel] {
            let failure = try #require(place.ask(status: 404, body: #"{"message":"not found"}"#).failure)
            #expect(failure.code == .pushPlaceMissing)
            #expect(failure.placeContent == nil)
        }
    }

    /// The secret may be there now.
    @Test func whatAPlaceHoldsIsUnknownAfterAWriteThatMayHaveBeenCarriedOut() {
        let empty = (404, #"{"data":{"data":null,"metadata":{"version":1}}}"#)
        let held = (200, #"{"data":{"data":{"client_secret":"old"},"metadata":{"version":3}}}"#)
        for (shown, status, content) in [
            (empty, 403, .nothing), (empty, 500, nil), (empty, 408, nil), (empty, 409, .nothing), (empty, 400, nil),
            (held, 403, .unusable), (held, 500, .something),
        ] as [((Int, String), Int, PushPlaceContent?)] {
            let result = Place.vault.ask { request in
                request.method == "GET"
                    ? shown : (status, #"{"errors":["\#(status == 400 ? "check-and-set" : "no")"]}"#)
            }
            #expect(result.failure.map { $0.placeContent == content } == true, "\(status): \(result)")
        }
    }

    // MARK: What an error means

    /// It comes with the status and the type of a refused token.
    @Test(arguments: [
        (
            403,
            #"{"__type":"InvalidSignatureException","message":"Signature expired: 20261129T020000Z is now earlier than 1"}"#,
            -3600, "3600 s behind"
        ),
        (
            403,
            #"{"__type":"InvalidSignatureException","message":"Signature not yet current: 20261129T020000Z is later"}"#,
            900, "900 s ahead of"
        ),
        (400, #"{"__type":"RequestExpired","message":"Request has expired"}"#, 600, "600 s ahead of"),
    ])
    func aWrongClockIsNoRefusedToken(status: Int, body: String, ahead: Int64, words: String) throws {
        let result = Place.aws.exchange(PushRoleRequest(.publish, secret: Place.secret)) { _ in
            .success(
                HTTPAnswer(
                    status: status, body: Array(body.utf8), date: Place.now, receivedAt: Place.ago(-ahead)))
        }
        let failure = try #require(result.failure, "\(result)")
        #expect(failure.code == .pushClockRefused)
        #expect(failure.detail?.hasPrefix("this machine's clock is \(words) the API's; it answered") == true)
    }

    /// Only a read or a login shows whether the token is taken.
    @Test(arguments: [401, 403]) func aWriteWithoutAReadDoesNotJudgeTheToken(status: Int) {
        for (pointer, code) in [(nil, .pushChangeRefused), (["secret"], .pushCredentialsRefused)]
            as [([String]?, FailureCode)]
        {
            let place = Place.http(headers: [.init("X-Key", "{{token}}")], reading: pointer)
            #expect(place.ask(status: status, body: "{}").failure?.code == code)
        }
    }

    /// How a write that fails with this answer is reported, and how often it was sent.
    private func refusedWrite(
        _ place: Place, shown: String, _ status: Int, _ body: String, retryAfter: Int? = nil
    ) throws -> (code: FailureCode, writes: Int) {
        var writes = 0
        let result = place.exchange(PushRoleRequest(.publish, secret: Place.secret)) { request in
            guard let accepted = Self.accept(request, at: place.kind) else { return Place.answer(200, shown) }
            if accepted.1.contains("session") { return Place.answer(200, accepted.1) }
            writes += 1
            return Place.answer(status, body, retryAfter: retryAfter)
        }
        let failure = try #require(result.failure)
        #expect(failure.retryAfter == retryAfter)
        #expect(failure.detail?.hasPrefix("it answered \(status): ") == true)
        return (failure.code, writes)
    }

    /// Without check-and-set, no status says that another program has written.
    @Test(arguments: [409, 412]) func aRefusalIsNoConflict(status: Int) throws {
        for (place, shown) in [
            (Place.http("POST"), ""), (.supabase, #"{"external_apple_secret":null}"#),
            (.pocketbase, #"{"id":"1","oauth2":{"providers":[{"name":"apple","clientSecret":""}]}}"#),
            (.vercel, #"{"envs":[]}"#), (.netlify, #"{"key":"SECRET","values":[]}"#),
            (.kubernetes, #"{"kind":"Secret"}"#),
        ] {
            for retryAfter in [nil, 300] {
                let (code, writes) = try refusedWrite(
                    place, shown: shown, status, #"{"message":"it is already registered"}"#, retryAfter: retryAfter)
                #expect(code == .pushRejected && writes == 1, "\(place.kind.name)")
            }
        }
    }

    /// The API says when it wants to be asked again.
    @Test func aConflictIsRepeatedAtOnceUnlessTheAPIAsksToWait() throws {
        let shown = #"{"data":{"data":{},"metadata":{"version":3}}}"#
        let body = #"{"errors":["check-and-set parameter did not match the current version"]}"#
        for (retryAfter, count) in [(nil, 3), (300, 1)] as [(Int?, Int)] {
            let (code, writes) = try refusedWrite(.vault, shown: shown, 400, body, retryAfter: retryAfter)
            #expect(code == .pushConflict && writes == count)
        }
        let modified = #"{"kind":"Status","reason":"Conflict","message":"the object has been modified; try again"}"#
        let (code, writes) = try refusedWrite(.kubernetes, shown: #"{"kind":"Secret"}"#, 409, modified)
        #expect(code == .pushConflict && writes == 3)
    }

    /// At the read, and at the write.
    @Test(
        arguments: [
            ("LimitExceededException", .pushQuotaExceeded, .pushQuotaExceeded),
            ("ThrottlingException", .pushRateLimited, .pushRateLimited),
            ("ExpiredTokenException", .pushCredentialsRefused, .pushChangeRefused),
            ("InternalServiceError", .pushServerFailed, .pushServerFailed),
        ] as [(String, FailureCode, FailureCode)])
    func anErrorOfAWSGoesByItsName(_ name: String, _ read: FailureCode, _ write: FailureCode) {
        let error = (400, #"{"__type":"\#(name)","message":"m"}"#)
        let shown = (200, #"{"Name":"apple","VersionId":"0123","SecretString":"eyJ.an.other"}"#)
        #expect(Place.aws.ask { _ in error }.failure?.code == read)
        #expect(Place.aws.ask { $0.isPutToAWS ? error : shown }.failure?.code == write)
    }

    /// What version 0.40.0 answers to blanks for the other providers' secrets.
    @Test func aPocketBaseThatWantsTheOthersSecretsIsNamed() {
        let blank =
            #"{"data":{"oauth2":{"providers":{"0":{"clientSecret":{"code":"validation_required","message":"Cannot be blank."}}}}},"message":"Failed to update collection.","status":400}"#
        let result = Place.pocketbase.ask { request in
            if request.method == "PATCH" { return (400, blank) }
            return Self.accept(request, at: .pocketbase)
                ?? (200, #"{"id":"1","oauth2":{"providers":[{"name":"apple","clientSecret":""}]}}"#)
        }
        #expect(result.failure?.code == .pushOthersBlank)
    }

    /// It passes by itself.
    @Test func aStandbyOfVaultThatIsBehindIsAServersFault() {
        for verb in [PushRoleRequest.Verb.read, .publish] {
            let result = Place.vault.ask(verb, status: 412, body: #"{"errors":["required index state not present"]}"#)
            #expect(result.failure?.code == .pushServerFailed)
        }
    }

    @Test(
        arguments: [
            (.tlsFailed, "error:0A00010B:SSL routines::wrong version number", .pushTLSFailed),
            (
                .connectionLost, "error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
                .pushTLSFailed
            ),
            (.connectionLost, "Recv failure", .pushUnreachable), (.answerBroken, "", .pushAnswerUnexpected),
            (.certificateRefused, "", .pushCertificateRefused), (.caFileUnusable, "", .pushFileUnusable),
        ] as [(TransportFailure.Kind, String, FailureCode)])
    func anAPIThatAnsweredIsNotUnreachable(kind: TransportFailure.Kind, words: String, code: FailureCode) {
        let result = Place.vault.exchange(PushRoleRequest(.publish, secret: Place.secret)) { _ in
            .failure(TransportFailure(kind, words))
        }
        #expect(result.failure?.code == code)
    }

    /// The API may mean that it has the secret.
    @Test func aStatusThatDoneDoesNotListIsNamed() throws {
        let failure = try #require(Place.http("POST").ask(status: 202, body: "").failure)
        #expect(failure.code == .pushStatusNotListed && failure.detail == "it answered 202")
    }

    // MARK: Whether a write was carried out

    /// How a write to AWS may fail, and whether it may have been carried out.
    private static let failedWrites: [(Result<HTTPAnswer, TransportFailure>, Bool)] = [
        (.failure(TransportFailure(.timedOut, "")), true),
        (.failure(TransportFailure(.connectionLost, "")), true),
        (.failure(TransportFailure(.timedOut, "", mayBeSent: false)), false),
        (.failure(TransportFailure(.notConnected, "", mayBeSent: false)), false),
        (Place.answer(500, "{}"), true), (Place.answer(200, "<html>"), true),
        (Place.answer(403, #"{"__type":"AccessDenied"}"#), false),
    ]

    /// A read may not show it for a while, so only this keeps the secret from being written twice in ten minutes.
    @Test(arguments: failedWrites.indices) func aWriteWithoutAnAnswerCountsFromWhenItWasSent(_ index: Int) {
        let (answer, isDoubtful) = Self.failedWrites[index]
        let result = Place.aws.exchange(PushRoleRequest(.publish, secret: Place.secret)) { request in
            request.isPutToAWS
                ? answer : Place.answer(200, #"{"Name":"apple","VersionId":"1","SecretString":"eyJ.an.other"}"#)
        }
        #expect(result.failure != nil)
        #expect(result.writtenAt == (isDoubtful ? Place.now : nil))
    }

    /// Where it cannot be read back, a status of success with an error says nothing.
    @Test func aWriteIsConfirmedByWhatWasWritten() throws {
        let shown = [
            "pocketbase": #"{"id":"1","oauth2":{"providers":[{"name":"apple","clientSecret":""}]}}"#,
            "vercel": #"{"envs":[{"key":"SECRET","target":["production"]}]}"#,
            "netlify": Self.variable(true, "production", "****"),
        ]
        /// The result of a write that is answered so.
        func publish(_ place: Place, _ answer: String) -> PushResult {
            place.ask { request in
                switch (request.method, place.kind.name) {
                case ("GET", let name): (200, shown[name, default: ""])
                case ("POST", "pocketbase"): (200, #"{"token":"session"}"#)
                default: (200, answer)
                }
            }
        }
        for (place, answer) in [
            (Place.pocketbase, #"{"id":"1"}"#), (.vercel, #"{"created":{"key":"SECRET"},"failed":[]}"#),
            (.vercel, #"{"created":[{"key":"SECRET"}]}"#), (.netlify, #"{"key":"SECRET"}"#),
        ] {
            guard case .published(let reading, _) = publish(place, answer), reading.holds == nil else {
                Issue.record("\(publish(place, answer))")
                continue
            }
            #expect(publish(place, #"{"message":"failed"}"#).failure?.code == .pushAnswerUnexpected)
        }
        for (place, answer, code) in [
            (.vercel, #"{"created":[],"failed":[]}"#, .pushAnswerUnexpected),
            (.vercel, #"{"created":{},"failed":[]}"#, .pushAnswerUnexpected),
            (.vercel, #"{"created":{"key":"OTHER"},"failed":[]}"#, .pushAnswerUnexpected),
            (.vercel, #"{"created":{"key":"SECRET"},"failed":{"error":{"code":"INTERNAL"}}}"#, .pushRejected),
            (.vercel, #"{"created":{},"failed":{"error":{"code":"ENV_CONFLICT"}}}"#, .pushEnvironmentsConflict),
            (.vercel, "{\"created\": [], \"failed\" : [\n  {\"error\": {\"code\": \"INTERNAL\"}}\n]}", .pushRejected),
            (.netlify, #"{"key":"OTHER"}"#, .pushAnswerUnexpected),
        ] as [(Place, String, FailureCode)] {
            #expect(publish(place, answer).failure?.code == code, "\(answer)")
        }
    }

    // MARK: Deployments

    /// Taken for a deployment, the error would never be shown, and the secret waited for during an hour.
    @Test(arguments: [#"{"error":{"code":"bad_request","message":"it cannot be deployed"}}"#, "{}", #"{"id":7}"#])
    func aDeploymentThatTheAnswerDoesNotNameWasNotBegun(answer: String) throws {
        let result = Place.vercel.ask(.redeploy) { request in
            if request.method == "POST" { return (200, answer) }
            let path = request.address.description
            if path.contains("/env") {
                return (200, #"{"envs":[{"key":"SECRET","target":["production"],"updatedAt":1000}]}"#)
            }
            if path.contains("/v6/deployments") { return (200, #"{"deployments":[]}"#) }
            return (200, #"{"name":"shop","targets":{"production":{"id":"dpl_0"}}}"#)
        }
        let failure = try #require(result.failure)
        #expect(failure.code == .pushAnswerUnexpected)
        #expect(!answer.contains("message") || failure.detail?.contains("it cannot be deployed") == true)
    }

    /// By the API's clock; that of another of its machines may be behind.
    @Test(arguments: [
        (Int64(-301), false), (-300, true), (-1, true), (0, true), (299, true), (300, false),
    ])
    func aVariableIsWaitedForForAWhileAfterAWrite(age: Int64, isWaitedFor: Bool) {
        let result = Place.vercel.exchange(.redeploy(writtenAt: Place.ago(age))) { _ in
            Place.answer(200, #"{"envs":[]}"#)
        }
        #expect((result == .redeployed(ready: false)) == isWaitedFor, "\(result)")
        #expect((result.failure?.code == .pushPlaceMissing) != isWaitedFor, "\(result)")
    }
}
