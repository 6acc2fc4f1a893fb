import AppleClientSecret
import Digest
import Linux
import Model
import Outputs
import Testing

@testable import UserWriter

/// A writer does only what root's configuration names for its user, for every caller.
@Suite struct UserWriterFileRulesTests {
    private let policy: UserWriterFileRules

    init() throws {
        policy = UserWriterFileRules(
            configuration: try Samples.configuration(), user: 1000,
            userID: { ["app": 1000, "1000": 1000, "other": 1001][$0] })
    }

    private func refusal(_ change: (inout WriterRequest) throws -> Void) throws -> UserWriterFileRules.Refusal? {
        var request = try Samples.publication()
        try change(&request)
        do throws(UserWriterFileRules.Refusal) {
            _ = try policy.order(request)
            return nil
        } catch {
            return error
        }
    }

    @Test func everythingThatTheConfigurationNamesIsDone() throws {
        let order = try policy.order(try Samples.publication())
        #expect(order.file.path.description == "/srv/app/.env" && order.file.mode == 0o640)
        #expect(order.secrets.mapValues(\.token.fingerprint) == [.variable("SECRET"): try Samples.token().fingerprint])
        #expect(order.secrets.values.map(\.issued.client.description) == ["com.example.web"])
        #expect(order.naming?.tag == "0123456789abcdef")
        // The other client's variable in the same file is a place of its own.
        var both = try Samples.publication()
        both.places.append(
            .init(variable: "OTHER", client: "api", token: try Samples.token("com.example.api")))
        #expect(try policy.order(both).secrets.count == 2)
    }

    @Test func aReadOrAnExaminationBringsNoSecrets() throws {
        for task in [WriterRequest.Task.observe, .examine] {
            var request = try Samples.publication()
            request.task = task
            #expect(throws: UserWriterFileRules.Refusal.nothingToDo) { try policy.order(request) }
            request.places[0].token = nil
            request.tag = nil
            #expect(try policy.order(request).file.slots.count == 1)
        }
        #expect(try refusal { $0.places[0].token = nil } == .nothingToDo)
        #expect(try refusal { $0.places = [] } == .nothingToDo)
    }

    @Test(arguments: [
        "/etc/shadow", "/srv/app", "/srv/app/.env.bak", "/srv/app/./.env", "/srv/app//.env", "/srv/app/../app/.env",
        "srv/app/.env", "", "/", "/srv/app/.env\u{0}", "/srv/app/.ENV",
    ])
    func anotherPathIsRefused(path: String) throws {
        #expect(try refusal { $0.path = path } == .noSuchOutput)
    }

    @Test(arguments: ["/srv/other/web.jwt", "/run/own.jwt"])
    func anotherUsersOutputIsRefused(path: String) throws {
        #expect(
            try refusal {
                $0 = try Samples.publication()
                $0.path = path
                $0.kind = "raw"
                $0.mode = nil
                $0.places[0].variable = nil
            } == .anothersOutput)
    }

    @Test func anotherFormIsRefused() throws {
        for kind in ["raw", "json", "ENV", ""] { #expect(try refusal { $0.kind = kind } == .otherForm) }
        for mode in [nil, 0o600, 0o666, 0o4640] as [UInt16?] { #expect(try refusal { $0.mode = mode } == .otherForm) }
        for group in ["root", ""] { #expect(try refusal { $0.group = group } == .otherForm) }
    }

    @Test func anotherPlaceIsRefused() throws {
        for name in [nil, "PATH", "secret", "", "SECRET\nPATH"] as [String?] {
            #expect(try refusal { $0.places[0].variable = name } == .noSuchPlace)
        }
        #expect(try refusal { $0.places[0].client = "api" } == .noSuchPlace)
        #expect(try refusal { $0.places.append($0.places[0]) } == .noSuchPlace, "twice")
    }

    @Test(arguments: [
        "", "PATH=/tmp", "a.b.c", "\n", "x\nLD_PRELOAD=/tmp/evil.so", String(repeating: "A", count: 20_000),
    ])
    func aTextThatIsNoSecretIsRefused(text: String) throws {
        let token = Token(Array(text.utf8))
        #expect(try refusal { $0.places[0].token = token } == .notItsSecret)
    }

    @Test(arguments: [
        ("com.example.api", "DEF123GHIJ", "ABC123DEFG"), ("com.example.web", "DEF123GHIX", "ABC123DEFG"),
        ("com.example.web", "DEF123GHIJ", "ABC123DEFX"),
    ])
    func anotherClientsTeamsOrKeysSecretIsRefused(client: String, team: String, key: String) throws {
        let token = try Samples.token(client, team: team, key: key)
        #expect(try refusal { $0.places[0].token = token } == .notItsSecret)
    }

    /// While a key is being replaced, secrets of both are published.
    @Test func theSecretOfEachOfTheClientsKeysIsDone() throws {
        var configuration = policy.configuration
        let web = try #require(ClientName("web"))
        let old = try #require(KeyName("old"))
        configuration.keys[old] = configuration.keys.values.first
        configuration.keys[old]?.keyID = try #require(KeyID("ABC123DEFX"))
        configuration.clients[web]?.otherKeys = [old]
        #expect(try secretIsDone(of: "ABC123DEFX", configuration))
        #expect(try secretIsDone(of: "ABC123DEFG", configuration))
        #expect(try !secretIsDone(of: "ABC123DEFZ", configuration))
    }

    /// The secret of the key id from before stays until Apple has accepted its successor.
    @Test func whereAppleIsAskedASecretOfAnEarlierKeyIDIsDone() throws {
        var configuration = policy.configuration
        #expect(try !secretIsDone(of: "ABC123DEFX", configuration))
        configuration.clients[try #require(ClientName("web"))]?.verify = true
        #expect(try secretIsDone(of: "ABC123DEFX", configuration))
    }

    private func secretIsDone(of keyID: String, _ configuration: Configuration) throws -> Bool {
        let policy = UserWriterFileRules(
            configuration: configuration, user: 1000, userID: { _ in 1000 })
        var request = try Samples.publication()
        request.places[0].token = try Samples.token(key: keyID)
        return (try? policy.order(request)) != nil
    }

    @Test func anotherVersionAndABadTagAreRefused() throws {
        #expect(try refusal { $0.version = 2 } == .version(2))
        for tag in [nil, "", "../../../../etc", "0123456789ABCDEF", "0123456789abcde", "*"] as [String?] {
            #expect(try refusal { $0.tag = tag } == .badTag)
        }
    }

    @Test func anUnknownUserHasNoFiles() throws {
        let nobodyKnows = UserWriterFileRules(
            configuration: policy.configuration, user: 1000, userID: { _ in nil })
        #expect(throws: UserWriterFileRules.Refusal.anothersOutput) {
            try nobodyKnows.order(try Samples.publication())
        }
    }
}
