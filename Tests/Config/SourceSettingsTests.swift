import AppleClientSecret
import Model
import Testing

@testable import Config

/// `public_key`, `from` and lists of keys.
@Suite struct SourceSettingsTests {
    /// The key of RFC 7515, appendix A.3, as a SubjectPublicKeyInfo.
    static let publicKey =
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
