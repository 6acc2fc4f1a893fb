import AppleClientSecret
import Digest
import Failures
import Model
import TestSupport
import Testing

@testable import Push

/// What is asked of an API whose answers a test makes.
@Suite struct PushExchangeTests {

    private static let now: Int64 = 1_800_000_000
    private static let secret = Token(Array(PushBed.secrets[0].utf8))
    private static let aws = ["region": "eu-central-1", "secret_id": "apple", "field": ""]
    private static let awsToken = "AWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\n"
    private static let vault = ["mount": "secret", "path": "apps/web", "field": "client_secret", "namespace": ""]
    private static let vercel = [
        "project": "shop", "team": "", "variable": "SECRET", "environments": #"["production"]"#,
    ]
    private static let netlify = ["account": "a", "site": "b", "variable": "SECRET", "context": "production"]
    private static let pocketbase = ["collection": "users", "provider": "apple", "user": "a@example.com"]
    private static let supabase = ["project": "abcdefghijklmnopqrst"]
    private static let kubernetes = ["namespace": "n", "secret": "s", "key": "k"]

    private static func target(_ kind: PushKind, _ settings: [String: String]) -> PushTarget {
        PushTarget(
            name: "production", kind: kind, settings: settings,
            endpoint: kind.isCustom ? "" : "https://api.example.com", caFile: nil, token: nil)
    }

    /// It was written, and seen there.
    private static let written = PushResult.published(
        PushPlaceReading(holds: true, use: .used), at: WallTime(secondsSinceEpoch: now))

    /// AWS Secrets Manager with a version that was created so many seconds ago.
    private func publish(
        createdAgo seconds: Int64, version: String, dated isDated: Bool = true, writtenAgo: Int64? = nil
    ) throws -> (result: PushResult, operations: [String]) {
        try publish(created: "\(Self.now - seconds).25", version: version, dated: isDated, writtenAgo: writtenAgo)
    }

    private func publish(
        created: String, version: String, dated isDated: Bool = true, writtenAgo: Int64? = nil
    ) throws -> (result: PushResult, operations: [String]) {
        let secret = PushBed.secrets[0]
        var held = "eyJ.an.other"
        var operations: [String] = []
        var exchange = PushExchange(
            PushRoleRequest(
                .publish, secret: Self.secret,
                writtenAt: writtenAgo.map { WallTime(secondsSinceEpoch: Self.now - $0) }),
            of: Self.target(.awsSecretsManager, Self.aws), token: Self.awsToken, others: [:]
        ) { request in
            let operation = request.headers.first { $0.name == "X-Amz-Target" }?.value ?? ""
            operations.append(String(operation.dropFirst("secretsmanager.".count)))
            if operation.hasSuffix("PutSecretValue") { held = secret }
            let body =
                #"{"Name":"apple","VersionId":"\#(version)","CreatedDate":\#(created),"SecretString":"\#(held)"}"#
            return .success(
                HTTPAnswer(
                    status: 200, body: Array(body.utf8),
                    date: isDated ? WallTime(secondsSinceEpoch: Self.now) : nil,
                    receivedAt: WallTime(secondsSinceEpoch: Self.now)))
        }
        return (exchange.run(), operations)
    }

    /// A `.p8` can be downloaded only once.
    @Test func aPrivateKeyInTheSecretsPlaceIsNotOverwritten() throws {
        let pem = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n"
        for text in [pem, Base64.encode(Array(pem.utf8))] {
            var methods: [String] = []
            let result = publish(.vault, Self.vault) { request in
                methods.append(request.method)
                let held = text.replacing("\n", with: "\\n")
                return (200, #"{"data":{"data":{"client_secret":"\#(held)"},"metadata":{"version":3}}}"#)
            }
            let failure = try #require(result.failure, "it was overwritten")
            #expect(failure.code == .pushPlaceUnsuitable)
            #expect(methods == ["GET"])
        }
    }

    /// AWS keeps a hundred versions of a secret, and asks for no more than one write in ten minutes.
    @Test func aVersionOfOursStandsForTenMinutes() throws {
        for seconds: Int64 in [0, 1, 599] {
            let (result, operations) = try publish(createdAgo: seconds, version: "clientsecretd-0123")
            let failure = try #require(result.failure, "it was replaced after \(seconds) s")
            #expect(failure.code == .pushRateLimited)
            #expect(failure.retryAfter == Int(600 - seconds))
            #expect(operations == ["GetSecretValue"])
        }
        let (result, operations) = try publish(createdAgo: 600, version: "clientsecretd-0123")
        #expect(result == Self.written)
        #expect(operations == ["GetSecretValue", "PutSecretValue", "GetSecretValue"])
    }

    /// What is read may be older, of another program, or without a date.
    @Test func ourOwnWriteCountsWhateverIsShown() throws {
        for (version, isDated) in [("0123", true), ("0123", false), ("clientsecretd-0123", false)] {
            for (seconds, wait) in [(0, 60), (300, 60), (590, 10)] as [(Int64, Int)] {
                let (result, operations) = try publish(
                    createdAgo: 7_776_000, version: version, dated: isDated, writtenAgo: seconds)
                let failure = try #require(result.failure, "it was replaced after \(seconds) s")
                #expect(failure.code == .pushRateLimited)
                #expect(failure.retryAfter == wait)
                #expect(operations == ["GetSecretValue"])
            }
            let later = try publish(createdAgo: 7_776_000, version: version, dated: isDated, writtenAgo: 600)
            #expect(later.result == Self.written)
        }
    }

    /// The answers to all requests, each with a status and a body.
    private func publish(
        _ kind: PushKind, _ settings: [String: String], token: String = "t", clockAhead: Int64 = 0,
        verb: PushRoleRequest.Verb = .publish,
        _ answer: (PushHTTPRequest) -> (status: Int, body: String)
    ) -> PushResult {
        withoutActuallyEscaping(answer) { answer in
            var exchange = PushExchange(
                PushRoleRequest(verb, secret: Self.secret), of: Self.target(kind, settings), token: token, others: [:]
            ) { request in
                let (status, body) = answer(request)
                return .success(
                    HTTPAnswer(
                        status: status, body: Array(body.utf8), date: WallTime(secondsSinceEpoch: Self.now),
                        receivedAt: WallTime(secondsSinceEpoch: Self.now + clockAhead)))
            }
            return exchange.run()
        }
    }

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
        let result = publish(.awsSecretsManager, Self.aws, token: Self.awsToken, clockAhead: ahead) { _ in
            (status, body)
        }
        let failure = try #require(result.failure, "\(result)")
        #expect(failure.code == .pushClockRefused)
        #expect(failure.detail?.hasPrefix("this machine's clock is \(words) the API's; it answered") == true)
    }

    /// Only a read or a login shows whether the token is taken.
    @Test(arguments: [401, 403]) func aWriteWithoutAReadDoesNotJudgeTheToken(status: Int) throws {
        let url = try #require(WebAddress("https://api.example.com/secret"))
        for isRead in [false, true] {
            let kind = PushKind.http(
                url: url, method: "PUT", headers: [.init("X-Key", "{{token}}")], body: "{{client_secret}}", done: [200],
                read: isRead ? (url, ["secret"]) : nil)
            let failure = try #require(publish(kind, [:], { _ in (status, "{}") }).failure, "it counts as done")
            #expect(failure.code == (isRead ? .pushCredentialsRefused : .pushChangeRefused))
        }
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
            publish(.vault, Self.vault) { request in
                #expect(request.method == "GET")
                return (200, #"{"data":{"data":\#(secret),"metadata":{"version":3}}}"#)
            },
            publish(
                .awsSecretsManager, Self.aws.merging(["field": "web"]) { $1 }, token: Self.awsToken
            ) { request in
                #expect(request.headers.contains { $0.value.hasSuffix("GetSecretValue") })
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
            publish(.pocketbase, Self.pocketbase) { request in
                if request.method == "POST" { return (200, #"{"token":"session"}"#) }
                let provider = #"{"name":"apple","clientId":"\#(client)","clientSecret":""}"#
                let google = #"{"name":"google","clientId":"com.example.web","clientSecret":""}"#
                return (200, #"{"id":"1","oauth2":{"providers":[\#(google),\#(provider)]}}"#)
            }
        }
        func supabase(
            _ client: String, _ verb: PushRoleRequest.Verb = .publish, also others: String = ""
        ) -> PushResult {
            publish(.supabase, Self.supabase, verb: verb) { request in
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
        let results = [
            pocketbase("com.example.web"), pocketbase(""), supabase(""), supabase("com.example.web, com.example.app"),
            supabase("com.example.web", also: "com.example.app"), supabase("", also: "com.example.web"),
        ]
        for result in results {
            #expect(result.failure == nil)
        }
    }

    /// It is pushed to all the same. A warning names what shows it.
    @Test func aPlaceThatIsSwitchedOffIsNamed() {
        func supabase(_ settings: String, _ verb: PushRoleRequest.Verb) -> PushResult {
            publish(.supabase, Self.supabase, verb: verb) { _ in
                (200, #"{\#(settings)"external_apple_secret":"\#(PushBed.secrets[0])"}"#)
            }
        }
        func pocketbase(_ enabled: String, _ rule: String, _ verb: PushRoleRequest.Verb) -> PushResult {
            publish(.pocketbase, Self.pocketbase, verb: verb) {
                let provider = #"{"name":"apple","clientId":"com.example.web","clientSecret":""}"#
                return $0.method == "POST"
                    ? (200, #"{"token":"session"}"#)
                    : (200, #"{"id":"1",\#(rule)"oauth2":{\#(enabled)"providers":[\#(provider)]}}"#)
            }
        }
        func kubernetes(_ metadata: String, _ verb: PushRoleRequest.Verb) -> PushResult {
            publish(.kubernetes, Self.kubernetes, verb: verb) { _ in
                let secret = Base64.encode(Array(PushBed.secrets[0].utf8))
                return (200, #"{"kind":"Secret",\#(metadata)"data":{"k":"\#(secret)"}}"#)
            }
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
                "authRule is null, and the collection lets nobody log in"
            ),
            (
                kubernetes, #""metadata":{"deletionTimestamp":"2026-11-29T20:00:00Z"},"#, #""metadata":{},"#,
                "metadata.deletionTimestamp is a text, and the Secret is being deleted"
            ),
        ]
        for (kind, off, on, words) in kinds {
            for (settings, use) in [(off, .unused(words)), (on, .used), ("", .used)] as [(String, PushPlaceUse?)] {
                for verb in [PushRoleRequest.Verb.publish, .read] {
                    switch kind(settings, verb) {
                    case .published(let reading, _), .read(let reading):
                        #expect(reading.use == use && reading.holds != false, "\(verb) \(settings): \(reading)")
                    case let other: Issue.record("\(verb) \(settings): \(other)")
                    }
                }
            }
        }
    }

    /// As in a file of format `raw`.
    @Test(arguments: [
        ("GOCSPX-abcdefghijklmnopqrstuvwxyz12", "0123", false, false), ("postgres://app:pw@db", "0123", false, false),
        ("changeme", "0123", false, false), (" ", "0123", false, true), ("eyJ.damaged", "0123", false, true),
        // What this daemon wrote, or where it has written before.
        ("changeme", "clientsecretd-0123", false, true), ("changeme", "0123", true, true),
    ])
    func whatIsNoClientSecretIsNotOverwrittenAsAWhole(held: String, version: String, wasWritten: Bool, isWritten: Bool)
        throws
    {
        let url = try #require(WebAddress("https://api.example.com/secret"))
        let own = PushKind.http(
            url: url, method: "PUT", headers: [], body: "{{client_secret}}", done: [200], read: (url, []))
        for (kind, settings) in [(own, [:]), (PushKind.awsSecretsManager, Self.aws)] {
            // Only AWS says who wrote.
            if kind.isCustom, version.hasPrefix("clientsecretd-") { continue }
            var text = held
            var exchange = PushExchange(
                PushRoleRequest(.publish, secret: Self.secret, wasWritten: wasWritten),
                of: Self.target(kind, settings), token: Self.awsToken, others: [:]
            ) { request in
                if request.method == "PUT" || request.headers.contains(where: { $0.value.hasSuffix("PutSecretValue") })
                {
                    text = PushBed.secrets[0]
                }
                let answer =
                    kind.isCustom
                    ? #""\#(text)""# : #"{"Name":"apple","VersionId":"\#(version)","SecretString":"\#(text)"}"#
                return .success(HTTPAnswer(status: 200, body: Array(answer.utf8), date: nil))
            }
            let result = exchange.run()
            #expect((text != held) == isWritten, "\(kind.name): \(result)")
            guard !isWritten else { continue }
            let failure = try #require(result.failure, "\(result)")
            #expect(failure.code == .pushPlaceUnsuitable && result == .failed(failure))
            #expect(failure.detail?.contains(held) == false)
        }
    }

    /// The API has shown what is there before it refused the write.
    @Test func whatAPlaceHoldsIsNamedWithTheFailure() throws {
        let expiry = WallTime(secondsSinceEpoch: 1_800_000_000)
        for (status, body, content) in [
            (404, #"{"data":{"data":null,"metadata":{"version":1}}}"#, .nothing),
            (200, #"{"data":{"data":{},"metadata":{"version":3}}}"#, .nothing),
            (200, #"{"data":{"data":{"client_secret":"old"},"metadata":{"version":3}}}"#, .unusable),
            (
                200, #"{"data":{"data":{"client_secret":"-----BEGIN PRIVATE KEY-----"},"metadata":{"version":3}}}"#,
                .unusable
            ),
            (
                200, #"{"data":{"data":{"client_secret":"\#(PushBed.secrets[1])"},"metadata":{"version":3}}}"#,
                .secret(expiresAt: expiry)
            ), (500, "{}", nil),
        ] as [(Int, String, PushPlaceContent?)] {
            let result = publish(.vault, Self.vault) { request in
                request.method == "GET" ? (status, body) : (429, #"{"errors":["slow down"]}"#)
            }
            let failure = try #require(result.failure, "\(result)")
            #expect(failure.placeContent == content, "\(status) \(body)")
        }
        let variable = #"{"key":"SECRET","target":["production"]}"#
        for (variables, content) in [("", .nothing), (variable, .something)] as [(String, PushPlaceContent)] {
            let result = publish(.vercel, Self.vercel) { request in
                request.method == "GET" ? (200, #"{"envs":[\#(variables)]}"#) : (429, "{}")
            }
            let failure = try #require(result.failure, "\(result)")
            #expect(failure.placeContent == content)
        }
    }

    /// Said with every answer that it is not there.
    @Test func whatIsThereInsteadIsNamed() throws {
        let url = try #require(WebAddress("https://api.example.com/secret"))
        let kind = PushKind.http(
            url: url, method: "PUT", headers: [], body: "{{client_secret}}", done: [200], read: (url, ["secret"]))
        for (held, content) in [
            ("null", .nothing), (#""changeme""#, .unusable),
            (#""\#(PushBed.secrets[1])\n""#, .secret(expiresAt: WallTime(secondsSinceEpoch: 1_800_000_000))),
        ] as [(String, PushPlaceContent)] {
            let answer = #"{"secret":\#(held)}"#
            let published = publish(kind, [:]) { _ in (200, answer) }
            #expect(
                published
                    == .published(
                        PushPlaceReading(holds: false, instead: content, use: .used),
                        at: WallTime(secondsSinceEpoch: Self.now)))
            #expect(
                publish(kind, [:], verb: .read) { _ in (200, answer) }
                    == .read(PushPlaceReading(holds: false, instead: content, use: .used)))
        }
        let secret = Base64.encode(Array(PushBed.secrets[1].utf8))
        let kubernetes = publish(.kubernetes, Self.kubernetes, verb: .read) { _ in
            (200, #"{"kind":"Secret","data":{"k":"\#(secret)"}}"#)
        }
        let other = PushPlaceContent.secret(expiresAt: WallTime(secondsSinceEpoch: 1_800_000_000))
        #expect(kubernetes == .read(PushPlaceReading(holds: false, instead: other, use: .used)))
    }

    /// A write that is accepted, and changes nothing.
    private static func accept(_ request: PushHTTPRequest, at kind: PushKind) -> (Int, String)? {
        let operation = request.headers.first { $0.name == "X-Amz-Target" }?.value
        let isRead = operation.map { $0.hasSuffix("GetSecretValue") } ?? (request.method == "GET")
        if kind.name == "pocketbase", request.method == "POST" { return (200, #"{"token":"session"}"#) }
        return isRead ? nil : (200, #"{"id":"1","key":"SECRET","created":{"key":"SECRET"}}"#)
    }

    /// What each kind shows of a place, and what it holds instead of the secret.
    private static let places: [(PushKind, [String: String], shown: String, holds: Bool?, PushPlaceContent?)] = [
        (.supabase, supabase, #"{"external_apple_secret":null}"#, false, .nothing),
        (.supabase, supabase, #"{"external_apple_secret":""}"#, false, .nothing),
        (.netlify, netlify, #"{"key":"SECRET","is_secret":true,"values":[]}"#, false, .nothing),
        (
            .netlify, netlify,
            #"{"key":"SECRET","is_secret":true,"values":[{"context":"deploy-preview","value":"****"}]}"#, false,
            .nothing
        ),
        (
            .netlify, netlify, #"{"key":"SECRET","is_secret":true,"values":[{"context":"production","value":"****"}]}"#,
            nil, nil
        ),
        (
            .netlify, netlify, #"{"key":"SECRET","is_secret":false,"values":[{"context":"dev","value":"local"}]}"#,
            false, .nothing
        ),
        (.vercel, vercel, #"{"envs":[]}"#, false, .nothing),
        (.vercel, vercel, #"{"envs":[{"key":"SECRET","target":["preview"]}]}"#, false, .nothing),
        (.vercel, vercel, #"{"envs":[{"key":"SECRET","target":["production"]}]}"#, nil, nil),
        (.kubernetes, kubernetes, #"{"kind":"Secret","data":{"other":"b2xk"}}"#, false, .nothing),
        (.vault, vault, #"{"data":{"data":{"other":"old"},"metadata":{"version":3}}}"#, false, .nothing),
        (
            .awsSecretsManager, aws.merging(["field": "web"]) { $1 }, #"{"Name":"apple","SecretString":"{}"}"#, false,
            .nothing
        ),
    ]

    /// A place that is there and holds nothing is not one whose secret is never shown.
    @Test(arguments: places.indices) func whetherAPlaceHoldsAnythingIsSeen(_ index: Int) {
        let (kind, settings, shown, holds, content) = Self.places[index]
        let token = kind.name == "aws_secrets_manager" ? Self.awsToken : "t"
        for verb in [PushRoleRequest.Verb.read, .publish] {
            let result = publish(kind, settings, token: token, verb: verb) {
                Self.accept($0, at: kind) ?? (200, shown)
            }
            switch result {
            case .read(let reading), .published(let reading, _):
                #expect(reading.holds == holds && reading.instead == content, "\(verb): \(reading)")
                // It is read once in a while, even if the secret is never shown.
                #expect(reading.use == .used)
            case let other: Issue.record("\(verb): \(other)")
            }
        }
    }

    /// By the same judgement as before a write.
    @Test func aReadSeesThatAPlaceIsMissing() throws {
        let provider = { (name: String) in
            #"{"id":"1","oauth2":{"enabled":true,"providers":[{"name":"\#(name)","clientId":"","clientSecret":""}]}}"#
        }
        func ask(_ verb: PushRoleRequest.Verb, _ name: String) -> PushResult {
            publish(.pocketbase, Self.pocketbase, verb: verb) {
                Self.accept($0, at: .pocketbase) ?? (200, provider(name))
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
        let settings = Self.vercel.merging(["environments": #"["production","preview"]"#]) { $1 }
        let answer = #"{"envs":[{"key":"SECRET","target":\#(environments)}]}"#
        guard case .read(let reading) = publish(.vercel, settings, verb: .read, { _ in (200, answer) }) else {
            Issue.record("it was not read")
            return
        }
        #expect(reading.holds == holds && reading.instead == (holds == false ? .nothing : nil))
    }

    /// An application finds it, and cannot use it.
    @Test(arguments: ["5", "{}", "true"]) func aMemberThatIsNoTextIsNotAbsent(value: String) {
        let result = publish(
            .awsSecretsManager, Self.aws.merging(["field": "web"]) { $1 }, token: Self.awsToken, verb: .read
        ) { _ in (200, #"{"Name":"apple","SecretString":"{\"web\":\#(value)}"}"#) }
        #expect(result == .read(PushPlaceReading(holds: false, instead: .unusable, use: .used)))
    }

    /// How a write that fails with this answer is reported, and how often it was sent.
    private func refusedWrite(
        _ kind: PushKind, _ settings: [String: String], shown: String, _ status: Int, _ body: String,
        retryAfter: Int? = nil
    ) throws -> (code: FailureCode, writes: Int) {
        var writes = 0
        var exchange = PushExchange(
            PushRoleRequest(.publish, secret: Self.secret), of: Self.target(kind, settings), token: "t", others: [:]
        ) { request in
            guard let accepted = Self.accept(request, at: kind) else {
                return .success(HTTPAnswer(status: 200, body: Array(shown.utf8), date: nil))
            }
            let isLogin = accepted.1.contains("session")
            if !isLogin { writes += 1 }
            var answer = HTTPAnswer(
                status: isLogin ? 200 : status, body: Array((isLogin ? accepted.1 : body).utf8), date: nil)
            answer.retryAfter = isLogin ? nil : retryAfter
            return .success(answer)
        }
        let failure = try #require(exchange.run().failure)
        #expect(failure.retryAfter == retryAfter)
        #expect(failure.detail?.hasPrefix("it answered \(status): ") == true)
        return (failure.code, writes)
    }

    /// Without check-and-set, no status says that another program has written.
    @Test(arguments: [409, 412]) func aRefusalIsNoConflict(status: Int) throws {
        let url = try #require(WebAddress("https://api.example.com/secret"))
        let own = PushKind.http(
            url: url, method: "POST", headers: [], body: "{{client_secret}}", done: [200], read: nil)
        let collection = #"{"id":"1","oauth2":{"providers":[{"name":"apple","clientSecret":""}]}}"#
        for (kind, settings, shown) in [
            (own, [:], ""), (.supabase, Self.supabase, #"{"external_apple_secret":null}"#),
            (.pocketbase, Self.pocketbase, collection), (.vercel, Self.vercel, #"{"envs":[]}"#),
            (.netlify, Self.netlify, #"{"key":"SECRET","values":[]}"#),
            (.kubernetes, Self.kubernetes, #"{"kind":"Secret"}"#),
        ] as [(PushKind, [String: String], String)] {
            let body = #"{"message":"it is already registered"}"#
            for retryAfter in [nil, 300] {
                let (code, writes) = try refusedWrite(
                    kind, settings, shown: shown, status, body, retryAfter: retryAfter)
                #expect(code == .pushRejected && writes == 1, "\(kind.name)")
            }
        }
    }

    /// The API says when it wants to be asked again.
    @Test func aConflictIsRepeatedAtOnceUnlessTheAPIAsksToWait() throws {
        let shown = #"{"data":{"data":{},"metadata":{"version":3}}}"#
        let body = #"{"errors":["check-and-set parameter did not match the current version"]}"#
        for (retryAfter, count) in [(nil, 3), (300, 1)] as [(Int?, Int)] {
            let (code, writes) = try refusedWrite(
                .vault, Self.vault, shown: shown, 400, body, retryAfter: retryAfter)
            #expect(code == .pushConflict && writes == count)
        }
        let modified = #"{"kind":"Status","reason":"Conflict","message":"the object has been modified; try again"}"#
        let (code, writes) = try refusedWrite(.kubernetes, Self.kubernetes, shown: #"{"kind":"Secret"}"#, 409, modified)
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
        let atRead = publish(.awsSecretsManager, Self.aws, token: Self.awsToken) { _ in error }
        #expect(atRead.failure?.code == read)
        let atWrite = publish(.awsSecretsManager, Self.aws, token: Self.awsToken) {
            Self.accept($0, at: .awsSecretsManager) == nil ? shown : error
        }
        #expect(atWrite.failure?.code == write)
    }

    /// What version 0.40.0 answers to blanks for the other providers' secrets.
    @Test func aPocketBaseThatWantsTheOthersSecretsIsNamed() {
        let blank =
            #"{"data":{"oauth2":{"providers":{"0":{"clientSecret":{"code":"validation_required","message":"Cannot be blank."}}}}},"message":"Failed to update collection.","status":400}"#
        let result = publish(.pocketbase, Self.pocketbase) { request in
            if request.method == "PATCH" { return (400, blank) }
            return Self.accept(request, at: .pocketbase)
                ?? (200, #"{"id":"1","oauth2":{"providers":[{"name":"apple","clientSecret":""}]}}"#)
        }
        #expect(result.failure?.code == .pushOthersBlank)
    }

    /// It passes by itself.
    @Test func aStandbyOfVaultThatIsBehindIsAServersFault() {
        for verb in [PushRoleRequest.Verb.read, .publish] {
            let result = publish(.vault, Self.vault, verb: verb) { _ in
                (412, #"{"errors":["required index state not present"]}"#)
            }
            #expect(result.failure?.code == .pushServerFailed)
        }
    }

    /// So that it can be done as it is written.
    @Test func aRemedyNamesTheSettingThatTheKindHas() throws {
        let url = try #require(WebAddress("https://api.example.com/secret"))
        let name = try #require(TargetName("production"))
        func own(isRead: Bool) -> PushKind {
            .http(
                url: url, method: "PUT", headers: [], body: "{{client_secret}}", done: [200],
                read: isRead ? (url, ["secret"]) : nil)
        }
        for (kind, settings, setting) in [
            (own(isRead: false), [:], #""url""#), (own(isRead: true), [:], #""url" under "read""#),
            (.vault, Self.vault, #""endpoint""#),
        ] as [(PushKind, [String: String], String)] {
            for (status, words) in [
                (307, "see where it redirects to, and write that address as \(setting)"),
                (150, "see whether \(setting) is the API's address"),
            ] {
                let answer = publish(kind, settings) { _ in (status, "<html>") }
                // As the daemon gets it.
                guard case .failed(let failure, _) = try PushResult(parsing: answer.jsonText.bytes) else {
                    Issue.record("\(answer)")
                    continue
                }
                #expect(Failure(failure, at: .target(name)).remedy?.description == words)
            }
        }
    }

    /// To a token without rights, an API may answer that there is nothing.
    @Test func aPlaceThatMayOnlyBeHiddenIsNotEmpty() throws {
        for (kind, settings) in [(PushKind.netlify, Self.netlify), (.vercel, Self.vercel)] {
            let result = publish(kind, settings) { _ in (404, #"{"message":"not found"}"#) }
            let failure = try #require(result.failure, "\(result)")
            #expect(failure.code == .pushPlaceMissing)
            #expect(failure.placeContent == nil)
        }
    }

    /// The secret may be there now.
    @Test func whatAPlaceHoldsIsUnknownAfterAWriteThatMayHaveBeenCarriedOut() throws {
        let empty = (404, #"{"data":{"data":null,"metadata":{"version":1}}}"#)
        let held = (200, #"{"data":{"data":{"client_secret":"old"},"metadata":{"version":3}}}"#)
        for (shown, status, content) in [
            (empty, 403, .nothing), (empty, 500, nil), (empty, 408, nil), (empty, 409, .nothing), (empty, 400, nil),
            (held, 403, .unusable), (held, 500, .something),
        ] as [((Int, String), Int, PushPlaceContent?)] {
            let result = publish(.vault, Self.vault) { request in
                request.method == "GET"
                    ? (shown.0, shown.1) : (status, #"{"errors":["\#(status == 400 ? "check-and-set" : "no")"]}"#)
            }
            let failure = try #require(result.failure, "\(result)")
            #expect(failure.placeContent == content, "\(status)")
        }
    }

    @Test(
        arguments: [
            (.tlsFailed, "error:0A00010B:SSL routines::wrong version number", .pushTLSFailed),
            (
                .connectionLost, "error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
                .pushTLSFailed
            ),
            (.connectionLost, "Recv failure", .pushUnreachable), (.certificateRefused, "", .pushCertificateRefused),
            (.caFileUnusable, "", .pushFileUnusable),
        ] as [(TransportFailure.Kind, String, FailureCode)])
    func anAPIThatAnsweredIsNotUnreachable(kind: TransportFailure.Kind, words: String, code: FailureCode) {
        var exchange = PushExchange(
            PushRoleRequest(.publish, secret: Self.secret), of: Self.target(.vault, Self.vault), token: "t", others: [:]
        ) { _ in .failure(TransportFailure(kind, words)) }
        #expect(exchange.run().failure?.code == code)
    }

    /// The API may mean that it has the secret.
    @Test func aStatusThatDoneDoesNotListIsNamed() throws {
        let url = try #require(WebAddress("https://api.example.com/secret"))
        let own = PushKind.http(
            url: url, method: "POST", headers: [], body: "{{client_secret}}", done: [200], read: nil)
        var exchange = PushExchange(
            PushRoleRequest(.publish, secret: Self.secret), of: Self.target(own, [:]), token: "", others: [:]
        ) { _ in .success(HTTPAnswer(status: 202, body: [], date: WallTime(secondsSinceEpoch: Self.now))) }
        let failure = try #require(exchange.run().failure)
        #expect(failure.code == .pushStatusNotListed && failure.detail == "it answered 202")
    }

    /// What can be read of a text that has no members: an application finds no secret there. Only a blank one is replaced.
    @Test(
        arguments: [
            ("", .nothing, true), (" ", .nothing, true), ("changeme", .unusable, false), ("[]", .unusable, false),
            (#"{\"a\":1,\"a\":2}"#, .something, false),
        ] as [(String, PushPlaceContent, Bool)])
    func aTextWithoutMembersHoldsNoSecret(held: String, content: PushPlaceContent, isWritten: Bool) throws {
        let settings = Self.aws.merging(["field": "web"]) { $1 }
        let shown = { (text: String) in (200, #"{"Name":"apple","VersionId":"1","SecretString":"\#(text)"}"#) }
        let read = publish(.awsSecretsManager, settings, token: Self.awsToken, verb: .read) { _ in shown(held) }
        #expect(read == .read(PushPlaceReading(holds: false, instead: content, use: .used)))
        var sent: String?
        let result = publish(.awsSecretsManager, settings, token: Self.awsToken) { request in
            guard request.headers.contains(where: { $0.value.hasSuffix("PutSecretValue") }) else { return shown(held) }
            sent = request.body.map { String(decoding: $0, as: UTF8.self) }
            return shown(held)
        }
        #expect((sent != nil) == isWritten, "\(result)")
        if isWritten {
            #expect(sent?.contains(#""SecretString":"{\"web\":\""#) == true)
        } else {
            #expect(result.failure?.code == .pushPlaceUnsuitable && result.failure?.placeContent == content)
        }
    }

    /// How a write to AWS may fail, and whether it may have been carried out.
    private static let failedWrites: [(Result<HTTPAnswer, TransportFailure>, Bool)] = [
        (.failure(TransportFailure(.timedOut, "")), true),
        (.failure(TransportFailure(.connectionLost, "")), true),
        (.failure(TransportFailure(.timedOut, "", mayBeSent: false)), false),
        (.failure(TransportFailure(.notConnected, "", mayBeSent: false)), false),
        (.success(HTTPAnswer(status: 500, body: Array("{}".utf8), date: nil)), true),
        (.success(HTTPAnswer(status: 200, body: Array("<html>".utf8), date: nil)), true),
        (.success(HTTPAnswer(status: 403, body: Array(#"{"__type":"AccessDenied"}"#.utf8), date: nil)), false),
    ]

    /// A read may not show it for a while, so only this keeps the secret from being written twice in ten minutes.
    @Test(arguments: failedWrites.indices) func aWriteWithoutAnAnswerCountsFromWhenItWasSent(_ index: Int) {
        let (answer, isDoubtful) = Self.failedWrites[index]
        var exchange = PushExchange(
            PushRoleRequest(.publish, secret: Self.secret), of: Self.target(.awsSecretsManager, Self.aws),
            token: Self.awsToken, others: [:]
        ) { request in
            guard request.headers.contains(where: { $0.value == "secretsmanager.GetSecretValue" }) else {
                return answer
            }
            return .success(
                HTTPAnswer(
                    status: 200, body: Array(#"{"Name":"apple","VersionId":"1","SecretString":"eyJ.an.other"}"#.utf8),
                    date: WallTime(secondsSinceEpoch: Self.now)))
        }
        guard case .failed(_, let moment) = exchange.run() else {
            Issue.record("it was written")
            return
        }
        #expect((moment != nil) == isDoubtful)
        if case .failure = answer, isDoubtful { #expect(moment == WallTime(secondsSinceEpoch: Self.now)) }
    }

    /// Where it cannot be read back, a status of success with an error says nothing.
    @Test func aWriteIsConfirmedByWhatWasWritten() throws {
        let pocketbase: (String) -> PushResult = { answer in
            self.publish(.pocketbase, Self.pocketbase) {
                request in
                switch request.method {
                case "PATCH": (200, answer)
                case "POST": (200, #"{"token":"session"}"#)
                default: (200, #"{"id":"1","oauth2":{"providers":[{"name":"apple","clientSecret":""}]}}"#)
                }
            }
        }
        let vercel: (String) -> PushResult = { answer in
            self.publish(.vercel, Self.vercel) { request in
                request.method == "POST"
                    ? (201, answer) : (200, #"{"envs":[{"key":"SECRET","target":["production"]}]}"#)
            }
        }
        let netlify: (String) -> PushResult = { answer in
            self.publish(.netlify, Self.netlify) { request in
                let values = #"[{"context":"production","value":"****"}]"#
                return request.method == "PATCH"
                    ? (200, answer) : (200, #"{"key":"SECRET","is_secret":true,"values":\#(values)}"#)
            }
        }
        for (publish, answer) in [
            (pocketbase, #"{"id":"1"}"#), (vercel, #"{"created":{"key":"SECRET"},"failed":[]}"#),
            (vercel, #"{"created":[{"key":"SECRET"}]}"#), (netlify, #"{"key":"SECRET"}"#),
        ] {
            guard case .published(let reading, _) = publish(answer), reading.holds == nil else {
                Issue.record("\(publish(answer))")
                continue
            }
            let failure = try #require(publish(#"{"message":"failed"}"#).failure, "an error counts as done")
            #expect(failure.code == .pushAnswerUnexpected)
        }
        for (publish, answer, code) in [
            (vercel, #"{"created":[],"failed":[]}"#, .pushAnswerUnexpected),
            (vercel, #"{"created":{},"failed":[]}"#, .pushAnswerUnexpected),
            (vercel, #"{"created":{"key":"OTHER"},"failed":[]}"#, .pushAnswerUnexpected),
            (vercel, #"{"created":{"key":"SECRET"},"failed":{"error":{"code":"INTERNAL"}}}"#, .pushRejected),
            (vercel, #"{"created":{},"failed":{"error":{"code":"ENV_CONFLICT"}}}"#, .pushEnvironmentsConflict),
            (vercel, "{\"created\": [], \"failed\" : [\n  {\"error\": {\"code\": \"INTERNAL\"}}\n]}", .pushRejected),
            (netlify, #"{"key":"OTHER"}"#, .pushAnswerUnexpected),
        ] as [((String) -> PushResult, String, FailureCode)] {
            #expect(publish(answer).failure?.code == code, "\(answer)")
        }
    }

    /// Taken for a deployment, the error would never be shown, and the secret waited for during an hour.
    @Test(arguments: [#"{"error":{"code":"bad_request","message":"it cannot be deployed"}}"#, "{}", #"{"id":7}"#])
    func aDeploymentThatTheAnswerDoesNotNameWasNotBegun(answer: String) throws {
        let result = publish(.vercel, Self.vercel, verb: .redeploy) { request in
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
        var exchange = PushExchange(
            .redeploy(writtenAt: WallTime(secondsSinceEpoch: Self.now)), of: Self.target(.vercel, [:]), token: "t",
            others: [:]
        ) { _ in .success(HTTPAnswer(status: 500, body: [], date: nil)) }
        exchange.clock = WallTime(secondsSinceEpoch: Self.now + age)
        do throws(RoleFailure) {
            let found = try exchange.lastChange(nil, orThrow: RoleFailure(.pushPlaceMissing))
            #expect(found == nil && isWaitedFor)
        } catch {
            #expect(!isWaitedFor)
        }
    }

    /// What an API calls a time may be any number.
    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1e300", "null"])
    func aTimeThatCannotBeDelaysNothing(created: String) throws {
        let (result, _) = try publish(created: created, version: "clientsecretd-0123")
        #expect(result == Self.written)
    }

    /// Nor does a clock that is wrong delay anything for longer.
    @Test func anothersVersionIsReplacedAtOnce() throws {
        #expect(try publish(createdAgo: 1, version: "0123").result == Self.written)
        #expect(try publish(createdAgo: -1, version: "clientsecretd-0123").result == Self.written)
        let undated = try publish(createdAgo: 1, version: "clientsecretd-0123", dated: false)
        #expect(undated.result == Self.written)
    }
}

extension PushResult {
    /// Why it failed, if it did.
    fileprivate var failure: RoleFailure? { if case .failed(let failure, _) = self { failure } else { nil } }
}
