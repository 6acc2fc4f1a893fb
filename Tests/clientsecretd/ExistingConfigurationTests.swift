import AppleClientSecret
import ArgumentParser
import Config
import Model
import Rotation
import TestSupport
import Testing

@testable import clientsecretd

/// What `init --name` adds to a configuration that exists.
@Suite struct ExistingConfigurationTests {
    private func withConfiguration<Value>(
        keys: String = "", key: String = "", end: String = "",
        _ body: (TemporaryDirectory, ExistingConfiguration) throws -> Value
    ) throws -> Value {
        let directory = try TemporaryDirectory()
        try directory.write(
            """
            keys:
              apple: {team_id: DEF123GHIJ, file: /keys/AuthKey_ABC123DEFG.p8}
            \(keys)
            clients:
              web: {client_id: com.example.web, \(key)outputs: [{path: /run/clientsecretd/out/web.jwt}]}\(end)
            """, to: "c.yaml")
        let name = try #require(ClientName("shop"))
        return try body(directory, ExistingConfiguration(directory("c.yaml"), adding: name))
    }

    private static let other = "  other: {team_id: OTHER1TEAM, file: /keys/AuthKey_OTHER1KEYS.p8}"

    private func answers(_ words: [String] = []) throws -> InitAnswers {
        try InitCommand.parse(
            ["--client-id", "com.example.shop", "--output", "/run/clientsecretd/out/shop.jwt", "--name", "shop"] + words
        ).given
    }

    /// The daemon does not read it.
    @Test func theFileIsNotHidden() throws {
        try withConfiguration { directory, _ in
            let name = try #require(ClientName(".shop"))
            let failure = #expect(throws: CommandFailure.self) {
                try ExistingConfiguration(directory("c.yaml"), adding: name)
            }
            #expect(failure?.code == .usage)
        }
    }

    @Test func theOnlyKeyIsShared() throws {
        try withConfiguration { directory, existing in
            #expect(existing.file.description == directory("c.d/shop.yaml"))
            var given = try answers()
            given.existingKey = try existing.key(for: given)
            let text = try existing.naming(given.configuration()).text(isOfService: false)
            #expect(!text.contains("keys:"))
            let configuration = try existing.parsed(with: text).get().configuration
            #expect(configuration.clients.keys.sorted().map(\.description) == ["shop", "web"])
            #expect(configuration.clients.values.allSatisfy { $0.key.description == "apple" })
        }
    }

    /// Whose secret goes to Supabase, and to the target `production`.
    private func pushed(
        with existing: ExistingConfiguration, isOfService: Bool = false
    ) throws -> NewConfigurationFile {
        var given = try InitCommand.parse([
            "--client-id", "com.example.shop", "--name", "shop", "--push", "supabase", "--set",
            "project=abcdefghijklmnopqrst", "--token-file", "/etc/hostname",
        ]).given
        given.existingKey = try existing.key(for: given)
        return try given.configuration(isOfService: isOfService)
    }

    /// What `init` tells to write must not be refused by the next `init`.
    @Test func aTargetThatIsThereIsUsed() throws {
        let (client, failure) = try withConfiguration(keys: "targets: {other: \(Self.target())}") { _, existing in
            let new = try pushed(with: existing, isOfService: true)
            let failure = #expect(throws: CommandFailure.self) { try existing.mainFile(with: new.target) }
            return (new, failure)
        }
        let target = try #require(client.target)
        let message = try #require(failure?.message)
        #expect(message.contains("add there, below \"targets\":\n\(target.indented)Then run this command again."))
        #expect(message.contains("clientsecretd-push@production.service"))
        // As typed.
        try withConfiguration(keys: "targets:\n  other: \(Self.target())\n\(target.indented)") { _, existing in
            #expect(try existing.mainFile(with: target) == nil)
            let text = client.text(isOfService: true, isAddition: true)
            let loaded = try existing.parsed(with: text).get()
            let shop = try #require(loaded.configuration.clients.first { $0.key.description == "shop" }?.value)
            #expect(shop.targets.map(\.target.description) == ["production"])
        }
    }

    /// A target holds one client's secret.
    @Test(arguments: [
        ("abcdefghijklmnopqrst", "/etc/hostname", true, "takes the secret of client \"app\"; name another one"),
        ("abcdefghijklmnopqrsu", "/etc/hostname", false, "with other settings; name another one with --target"),
        ("abcdefghijklmnopqrst", "/etc/other", false, "with other settings; name another one with --target"),
    ])
    func aTargetThatIsAnothersIsNotUsed(project: String, token: String, isUsed: Bool, words: String) throws {
        let user = "\n  app: {client_id: com.example.app, outputs: [{push: production}]}"
        try withConfiguration(
            keys: "targets: {production: \(Self.target(project, token))}", end: isUsed ? user : ""
        ) { directory, existing in
            let target = try pushed(with: existing).target
            let failure = #expect(throws: CommandFailure.self) { try existing.mainFile(with: target) }
            let message = try #require(failure?.message)
            #expect(message.hasPrefix("target \"production\" is already in \(directory("c.yaml")), "), "\(message)")
            #expect(message.contains(words), "\(message)")
        }
    }

    private static func target(_ project: String = "abcdefghijklmnopqrsu", _ token: String = "/t") -> String {
        "{kind: supabase, project: \(project), token_file: \(token)}"
    }

    /// Targets belong into the main file, and no line that is there is changed.
    @Test func aTargetIsAddedToTheMainFileUnlessItHasSome() throws {
        try withConfiguration { directory, existing in
            let first = try pushed(with: existing)
            let main = try #require(try existing.mainFile(with: first.target))
            #expect(main.path == directory("c.yaml"))
            let loaded = try existing.parsed(with: first.text(isOfService: false, isAddition: true), main).get()
            let shop = try #require(loaded.configuration.clients.first { $0.key.description == "shop" }?.value)
            #expect(shop.targets.map(\.target.description) == ["production"])
        }
        // The text of a template ends where the next line is not indented like it, and has the line break before that.
        let template =
            "\n  app:\n    client_id: com.example.app\n    outputs:\n      - path: /run/app\n        format: template\n"
            + "        template: |\n          a={{client_secret}}"
        let old = "{old: {kind: supabase, project: abcdefghijklmnopqrsu, token_file: /t}}"
        for (keys, end) in [("targets: \(old)", ""), ("\"targets\": \(old)", ""), ("", template), ("", "\n...\n")] {
            try withConfiguration(keys: keys, end: end) { _, existing in
                let target = try pushed(with: existing).target
                #expect(throws: CommandFailure.self) { try existing.mainFile(with: target) }
            }
        }
    }

    /// By its file, by a copy of that, as /root/AuthKey_….p8 is, or by team and key id.
    @Test(
        arguments: [
            (["--key", "/keys/AuthKey_OTHER1KEYS.p8"], nil, "other"), (["--team-id", "OTHER1TEAM"], nil, nil),
            (["--team-id", "OTHER1TEAM"], "OTHER1KEYS", "other"), (["--team-id", "OTHER1TEAM"], "ABC123DEFG", nil),
            (["--team-id", "DEF123GHIJ", "--key", "/root/AuthKey_ABC123DEFG.p8"], nil, "apple"),
            (["--team-id", "OTHER1TEAM", "--key", "/root/AuthKey_ABC123DEFG.p8"], nil, nil),
        ] as [([String], String?, String?)])
    func aKeyThatIsThereIsNotAddedAgain(flags: [String], former: String?, name: String?) throws {
        try withConfiguration(keys: Self.other, key: "key: apple, ") { _, existing in
            var given = try answers(flags)
            given.formerKeyID = former.flatMap { KeyID($0) }
            #expect(try existing.key(for: given)?.description == name)
        }
    }

    /// The client would be signed for by the other team.
    @Test func aKeyOfAnotherTeamIsNeitherTakenNorOffered() throws {
        try withConfiguration(keys: Self.other, key: "key: apple, ") { _, existing in
            let file = try #require(AbsolutePath("/keys/AuthKey_ABC123DEFG.p8"))
            let failure = #expect(throws: CommandFailure.self) {
                try existing.key(for: answers(["--team-id", "OTHER1TEAM", "--key", file.description]))
            }
            #expect(
                failure?.message
                    == "\(file): the configuration has this key as \"apple\", of team DEF123GHIJ; name the key file of team OTHER1TEAM"
            )
            let copy = try #require(AbsolutePath("/root/AuthKey_ABC123DEFG.p8"))
            let unknown = try #require(AbsolutePath("/root/AuthKey_ABC123DEFH.p8"))
            for (path, team, isOthers) in [
                (file, "OTHER1TEAM", true), (copy, "OTHER1TEAM", true), (unknown, "OTHER1TEAM", false),
                (file, "DEF123GHIJ", false), (file, "", false),
            ] {
                #expect(existing.isOfAnotherTeam(path, than: TeamID(team)) == isOthers, "\(path) \(team)")
            }
        }
    }

    /// With it, a client that does not name its key leaves it open which one signs.
    @Test func anotherKeyGetsANameOfItsOwn() throws {
        for key in ["key: apple, ", ""] {
            try withConfiguration(key: key) { _, existing in
                let given = try answers(["--team-id", "OTHER1TEAM", "--key", "/keys/AuthKey_OTHER1KEYS.p8"])
                #expect(try existing.key(for: given) == nil)
                let result = try existing.parsed(with: existing.naming(given.configuration()).text(isOfService: false))
                guard key != "" else {
                    #expect(throws: ConfigurationError.self) { try result.get() }
                    return
                }
                let configuration = try result.get().configuration
                #expect(configuration.keys.keys.sorted().map(\.description) == ["apple", "shop"])
                #expect(configuration.clients[try #require(ClientName("shop"))]?.key.description == "shop")
            }
        }
    }
}
