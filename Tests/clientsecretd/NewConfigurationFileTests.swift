import AppleClientSecret
import Config
import Formats
import Model
import Push
import Rotation
import TestSupport
import Testing

@testable import clientsecretd

@Suite struct NewConfigurationFileTests {
    private func first(
        key: String = "/etc/clientsecretd/AuthKey_ABC123DEFG.p8", keyID: String? = nil, name: String = "web",
        output: String = "/run/clientsecretd/out/web.jwt", format: any OutputFormat.Type = FormatRegistry.standard,
        variable: String? = nil, user: String? = nil, group: String? = nil,
        restarted: String? = nil
    ) throws -> NewConfigurationFile {
        NewConfigurationFile(
            key: .added(
                NewConfigurationFile.AddedKey(
                    team: try #require(TeamID("DEF123GHIJ")), keyID: keyID.flatMap { KeyID($0) },
                    file: try #require(AbsolutePath(key)))),
            name: try #require(ClientName(name)), client: try #require(ClientID("com.example.web")),
            destination: .file(
                NewConfigurationFile.OutputFile(
                    path: try #require(AbsolutePath(output)), format: format.name, variable: variable, user: user,
                    group: group)),
            unit: restarted)
    }

    /// Whatever a kind needs, the configuration with it is accepted.
    @Test(arguments: PushKind.all.map(\.name))
    func aTargetOfEveryKindIsAccepted(name: String) throws {
        let kind = try #require(PushKind.all.first { $0.name == name })
        var target = InitTarget(
            kind: kind, name: try #require(TargetName("production")), settings: [:],
            tokenFile: AbsolutePath("/etc/token 100%"))
        for setting in kind.settings where setting.standard == nil { target.settings[setting.name] = "a-b" }
        if target.needsEndpoint { target.settings["endpoint"] = "https://api.example.com" }
        var first = try first()
        first.destination = nil
        for isOfService in [true, false] {
            first.target = target.entry(isOfService: isOfService)
            let configuration = try parsed(first.text(isOfService: isOfService)).configuration
            #expect(configuration.clients.values.first?.targets.map(\.target.description) == ["production"])
        }
    }

    @Test func isWhatItSays() throws {
        #expect(
            try first(format: EnvironmentFormat.self, variable: "APPLE_CLIENT_SECRET").text(isOfService: true) == """
                # Written by clientsecretd init. 'clientsecretd check' shows what the daemon would do.
                keys:
                  apple:
                    team_id: DEF123GHIJ
                    file: /etc/clientsecretd/AuthKey_ABC123DEFG.p8

                clients:
                  web:
                    client_id: com.example.web
                    key: apple
                    # How long a secret is valid, and how long before it expires it is renewed.
                    lifetime: 90d
                    renew_before: 30d
                    outputs:
                      - path: /run/clientsecretd/out/web.jwt
                        format: env
                        variable: APPLE_CLIENT_SECRET

                """)
    }

    @Test func aClientThatIsAddedHasTheDefaultsOfTheConfiguration() throws {
        var second = try first(name: "shop", output: "/run/clientsecretd/out/shop.jwt")
        second.key = .existing(try #require(KeyName("apple")))
        func source(_ path: String, _ text: String) throws -> SourceFile {
            SourceFile(name: path, path: try #require(AbsolutePath(path)), bytes: Array(text.utf8))
        }
        let main = try first().text(isOfService: true) + "defaults: {lifetime: 30d, renew_before: 12d}\n"
        let both = ConfigurationParser.parse(
            main: try source("/etc/c.yaml", main),
            additions: [try source("/etc/c.d/shop.yaml", second.text(isOfService: true, isAddition: true))])
        let shop = try #require(try both.get().configuration.clients[second.name])
        #expect(shop.lifetime.seconds == 2_592_000 && shop.renewBefore == 1_036_800)
    }

    @Test func isAcceptedAsItStands() throws {
        let unit = #"srv-a\x2db@one.service"#
        let first = try first(key: "/srv/key.pem", keyID: "12345E6789", restarted: unit)
        let configuration = try parsed(first.text(isOfService: true)).configuration
        let client = try #require(configuration.clients.first)
        #expect(client.value.onChange == [.unit(verb: .restart, unit: unit)])
        #expect(client.key.description == "web")
        #expect(client.value.clientID.description == "com.example.web")
        #expect(client.value.lifetime.seconds == 7_776_000)
        #expect(client.value.renewBefore == 2_592_000)
        let key = try #require(configuration.keys.first?.value)
        #expect(key.keyID.description == "12345E6789")
        #expect(key.location == .file(try #require(AbsolutePath("/srv/key.pem"))))
    }

    @Test(arguments: [
        "SEARCHADS.27478e71-3bb0-4588-998c-182e2b405577", "music:", "music:https://a.example,https://b.example:8443",
        "maps::", "maps:mapkit_js:https://a.example", "maps:server_api:",
    ])
    func aClientOfAnotherKindIsReadBackTheSame(client: String) throws {
        var first = try first(key: "/srv/key.pem")
        first.client = try #require(ClientID(client))
        let isAds = first.client.kind == .appleAds
        first.key = .added(
            NewConfigurationFile.AddedKey(
                team: try #require(TeamID(isAds ? client : "DEF123GHIJ")),
                keyID: KeyID(isAds ? "bacaebda-e219-41ee-a907-e2c25b24d1b2" : "ABC123DEFG"),
                file: try #require(AbsolutePath("/srv/key.pem"))))
        let read = try parsed(first.text(isOfService: true)).configuration
        #expect(read.clients.first?.value.clientID == first.client)
    }

    @Test func aCredentialIsItsUnits() throws {
        var first = try first(restarted: "api.service")
        first.destination = .credential("apple-client-secret")
        let client = try #require(try parsed(first.text(isOfService: true)).configuration.clients.first?.value)
        #expect(client.credential == ServedCredential(unit: "api.service", name: "apple-client-secret"))
        #expect(client.outputs.isEmpty)
    }

    /// The service's user is in no other group: there the directory gives it.
    @Test func aFileIsOfItsUserOrReadByItsGroup() throws {
        let text = try first(format: EnvironmentFormat.self, variable: "SECRET", user: "app").text(isOfService: true)
        #expect(text.contains("        as: app\n"))
        _ = try parsed(text)
        let grouped = try first(group: "www-data")
        #expect(
            try parsed(grouped.text(isOfService: true)).configuration.clients.first?.value.outputs.first?.mode == 0o640)
        #expect(!grouped.text(isOfService: true).contains("group:"))
        #expect(grouped.text(isOfService: false).contains("        group: www-data\n"))
    }

    /// Whatever a path or a name holds is read back as it was.
    @Test func readsBackEveryPathAndName() throws {
        var generator = SeededGenerator()
        let characters = Array(" '\"#:{}[],&*!|>%@`\\-?~=.aZ0_äß\t")
        for _ in 0..<300 {
            let name = (0..<Int.random(in: 1...8, using: &generator)).map { _ in
                Array("aZ0._-")[Int.random(in: 0..<6, using: &generator)]
            }
            let path = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                characters[Int.random(in: 0..<characters.count, using: &generator)]
            }
            guard let output = AbsolutePath("/x/" + String(path)), let client = ClientName(String(name)) else {
                continue
            }
            let text = try first(name: client.description, output: output.description).text(isOfService: true)
            let read = try parsed(text).configuration.clients[client]
            #expect(read?.outputs.first?.path == output, "seed \(generator.seed): \(text)")
        }
    }
}
