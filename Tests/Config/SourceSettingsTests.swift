import AppleClientSecret
import Model
import Testing

@testable import Config

/// `public_key`, `from` and lists of keys.
@Suite struct SourceSettingsTests {
    /// The key of RFC 7515, appendix A.3, as a SubjectPublicKeyInfo.
    private static let publicKey =
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ=="

    private static let apple = "apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, public_key: \(publicKey)}"
    private static let former = "former: {team_id: DEF123GHIJ, key_id: XYZ123DEFG, public_key: \(publicKey)}"
    private static let mine = "mine: {team_id: DEF123GHIJ, file: /etc/k/AuthKey_ABC123DEFG.p8}"

    private func client(keys: [String] = [apple], _ client: String) throws -> ClientConfiguration {
        let text = "keys: {\(keys.joined(separator: ", "))}\nclients: {web: {\(client), outputs: [{path: /run/x}]}}\n"
        let loaded = try parse(text).get()
        #expect(loaded.warnings.isEmpty)
        return try #require(loaded.configuration.clients.values.first)
    }

    @Test func aSourceIsAFileWithOneSecretUnlessItSaysOtherwise() throws {
        let path = try #require(AbsolutePath("/in/web"))
        let raw = try client("from: {path: /in/web}")
        #expect(raw.source?.file == FileSource(path: path, format: FileFormat(name: "raw"), slot: .whole))
        #expect(raw.source?.deliverOver == 600)
        #expect(raw.lifetime == .maximum)
        let env = try client("renew_before: 10d, deliver_over: 0s, from: {path: /in/web, variable: SECRET}")
        var expected = SourceConfiguration(
            path: path, format: FileFormat(name: "env", isShared: true), slot: .variable("SECRET"), renewBefore: 864_000
        )
        expected.deliverOver = 0
        #expect(env.source == expected)
        #expect(try client("from: {path: /in/web, format: json}").source?.file?.format.name == "json")
    }

    @Test func severalKeysAreAnOrderOfPreference() throws {
        let entry = try client(keys: [Self.apple, Self.former], "key: [former, apple], from: {path: /in/web}")
        #expect(entry.keys.map(\.description) == ["former", "apple"])
    }

    @Test func aPublicKeyIsKeptAsDER() throws {
        let loaded = try parse("keys: {\(Self.apple)}\nclients: {web: {from: {path: /i}, outputs: [{path: /o}]}}\n")
            .get()
        guard case .publicKey(let bytes)? = loaded.configuration.keys.values.first?.location else {
            Issue.record("no public key")
            return
        }
        #expect(bytes.count == 91)
        #expect(loaded.configuration.inputs == [try #require(AbsolutePath("/i"))])
    }

    @Test(arguments: [
        (
            [apple, mine], "key: mine, deliver_over: 1m, outputs: [{path: /o}]",
            #"client "web" mints its secrets, and "deliver_over" is for one that receives them; remove the line"#
        ),
        (
            [apple], "deliver_over: 2d, from: {path: /i}, outputs: [{path: /o}]",
            #""2d" is too long; write 1d or less"#
        ),
        (
            [apple], "outputs: [{path: /o}]",
            #"client "web" cannot mint, because key "apple" is a public_key; write "from" with the "path" of a file that something else renews, or a "store""#
        ),
        (
            [mine], "from: {path: /i}, outputs: [{path: /o}]",
            #"client "web" mints its own secrets, because key "mine" is a private key; remove "from", or write "public_key" for the key"#
        ),
        (
            [apple], "lifetime: 90d, from: {path: /i}, outputs: [{path: /o}]",
            #"client "web" receives its secrets, so "lifetime" is decided where they are minted; remove the line"#
        ),
        (
            [apple], "verify: true, from: {path: /i}, outputs: [{path: /o}]",
            #"client "web" receives its secrets, so "verify" is decided where they are minted; remove the line"#
        ),
        (
            [apple], "rollout: {}, from: {path: /i}, outputs: [{path: /o}]",
            #"client "web" receives its secrets, so "rollout" is decided where they are minted; remove the line"#
        ),
        (
            [mine], "rollout: {}, outputs: [{path: /o}]",
            #"client "web" shares its secrets with no other machine, because there is no "store"; remove "rollout""#
        ),
        (
            [apple], "from: {path: /o}, outputs: [{path: /o}]",
            #"/o is the source of client "web"; write another path"#
        ),
        (
            [apple], "from: {variable: A}, outputs: [{path: /o}]",
            #""from" has no "path"; write the file that something else renews"#
        ),
        (
            [apple], "from: {path: /i, format: env}, outputs: [{path: /o}]",
            #"format env needs a "variable"; write the one that holds the secret"#
        ),
        (
            [apple], "from: {path: /i, format: template}, outputs: [{path: /o}]",
            #"no secret is received as format "template"; write raw, env or json"#
        ),
        (
            [apple, former], "key: [apple, apple], from: {path: /i}, outputs: [{path: /o}]",
            #"key "apple" is already in the list; remove one"#
        ),
        (
            [mine, "other: {team_id: DEF123GHIJ, file: /etc/k/AuthKey_ZZZ123DEFG.p8}"],
            "key: [mine, other], outputs: [{path: /o}]",
            #"client "web" mints with one key; write only the key that signs, without a list"#
        ),
        (
            ["apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, public_key: MFkwhunter2}"],
            "from: {path: /i}, outputs: [{path: /o}]",
            #"the value is not a public key on P-256; write what "clientsecretd public-key" prints on the machine that has the private key"#
        ),
        (
            ["apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /k.p8, public_key: \(publicKey)}"],
            "from: {path: /i}, outputs: [{path: /o}]",
            #""public_key" is for a machine without the private key and excludes "file"; keep one"#
        ),
    ])
    func anErrorIsNamed(keys: [String], client: String, message: String) {
        let said = diagnose("keys: {\(keys.joined(separator: ", "))}\nclients: {web: {\(client)}}\n")
        #expect(said.count == 1)
        #expect(said.first?.hasSuffix(": error: " + message) == true, "\(said)")
    }

    private func signer(_ rollout: String, defaults: String = "", more: String = "") throws -> ClientConfiguration {
        let text = """
            keys: {\(Self.mine)}
            store: {endpoints: ["https://etcd:2379"], machine: a}
            \(defaults)
            clients: {web: {\(rollout)\(more)outputs: [{path: /run/x}]}}
            """
        return try #require(try parse(text + "\n").get().configuration.clients.values.first)
    }

    @Test func aRolloutHasDefaults() throws {
        #expect(try signer("").rollout == nil)
        #expect(try signer("rollout: {}, ").rollout == .standard)
        #expect(
            try signer("rollout: {canaries: 3, at_once: 10%, pause: 1h}, ").rollout
                == RolloutConfiguration(canaries: 3, atOnce: 10, pause: 3600))
        // Of all clients, but for one that stays at home.
        let defaults = "defaults: {rollout: {canaries: 2}}"
        #expect(try signer("", defaults: defaults).rollout?.canaries == 2)
        #expect(try signer("", defaults: defaults, more: "share: false, ").rollout == nil)
    }

    @Test(arguments: [
        ("rollout: {canaries: 0}", #""0" is not a number of machines; write 1 or more"#),
        ("rollout: {canaries: many}", #""many" is not a number of machines; write 1 or more"#),
        ("rollout: {at_once: 5}", #""5" is not a share; write it in percent, from 1% to 100%"#),
        ("rollout: {at_once: 0%}", #""0%" is not a share; write it in percent, from 1% to 100%"#),
        ("rollout: {at_once: 101%}", #""101%" is not a share; write it in percent, from 1% to 100%"#),
        ("rollout: {pause: 10s}", #""10s" is too short; write 1m or more"#),
        ("rollout: {canary: 1}", #"unknown key "canary"; "rollout" takes canaries, at_once and pause"#),
        ("rollout: 5%", #""rollout" is one value; write its settings as "name: value", indented"#),
        (
            "rollout: {}, share: false",
            #"client "web" shares its secrets with no other machine, because "share" is false; remove "rollout""#
        ),
    ])
    func anErrorInARolloutIsNamed(settings: String, message: String) {
        let said = diagnose(
            """
            keys: {\(Self.mine)}
            store: {endpoints: ["https://etcd:2379"], machine: a}
            clients: {web: {\(settings), outputs: [{path: /run/x}]}}

            """)
        #expect(said.count == 1)
        #expect(said.first?.hasSuffix(": error: " + message) == true, "\(said)")
    }

    @Test func defaultsForMintingConcernOthersOnly() throws {
        let text = """
            keys: {\(Self.apple), \(Self.mine)}
            defaults: {lifetime: 10d, verify: true}
            clients:
              web: {key: apple, from: {path: /i}, outputs: [{path: /o}]}
              api: {key: mine, outputs: [{path: /p}]}
            """
        let clients = try parse(text).get().configuration.clients
        #expect(clients.values.map(\.verify).sorted { !$0 && $1 } == [false, true])
        #expect(clients.values.contains { $0.source != nil && $0.lifetime == .maximum })
    }
    /// A private key mints, whatever file the others receive from.
    @Test func aSourceOfDefaultsIsForClientsWithAPublicKey() throws {
        let text = """
            keys: {\(Self.apple), \(Self.mine)}
            defaults: {from: {path: /i}}
            clients:
              web: {key: apple, outputs: [{path: /o}]}
              api: {key: mine, lifetime: 10d, outputs: [{path: /p}]}
              ios: {key: apple, from: {path: /j}, outputs: [{path: /q}]}
            """
        let clients = try parse(text).get().configuration.clients
        #expect(
            clients.sorted { $0.key < $1.key }.map { $0.value.source?.path?.description } == [nil, "/j", "/i"])
    }
}
