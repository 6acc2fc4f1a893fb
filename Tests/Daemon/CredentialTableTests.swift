import AppleClientSecret
import Model
import Rotation
import Systemd
import TestSupport
import Testing

@testable import Daemon

/// Which client's secret is for which unit.
@Suite struct CredentialTableTests {
    private func request(_ unit: String, _ name: String = "secret") throws -> CredentialRequest {
        try #require(CredentialRequest(address: Array("\01f/unit/\(unit)/\(name)".utf8)))
    }

    @Test(
        arguments: [
            ("a.service", "plain"), ("t@one.service", "instance"), ("t@two.service", "template"),
            ("t@a@b.service", "template"), ("t@x\\x2dy.service", "template"), ("t@.service", "template"),
            ("b.service", nil), ("t.service", nil), ("a@one.service", nil), ("a.socket", nil), ("t@one.socket", nil),
            ("xt@one.service", nil), ("A.service", nil),
        ] as [(String, String?)])
    func theUnitItselfGoesBeforeItsTemplate(unit: String, client: String?) throws {
        let table = CredentialTable(
            try .serving(["plain": "a.service", "template": "t@.service", "instance": "t@one.service"]))
        #expect(table[try request(unit)]?.client.description == client)
        #expect(table[try request(unit, "other")] == nil)
    }

    @Test func aReloadKeepsTheSecretsOfClientsThatStay() throws {
        let (a, b) = (try #require(ClientName("a")), try #require(ClientName("b")))
        var table = CredentialTable(try .serving(["a": "a.service", "b": "b.service"]))
        #expect(table[try request("a.service")]?.secret == nil)
        let issued = SecretInfo.sample(7)
        for client in [a, b] { table.take(ServedSecret(client: client, secret: issued)) }
        table = CredentialTable(try .serving(["a": "new.service"]), after: table)
        #expect(table[try request("new.service")]?.secret == issued.fingerprint)
        #expect(table[try request("a.service")] == nil)
        #expect(table[try request("b.service")] == nil)
        // A client that is added again has no secret from before.
        table = CredentialTable(try .serving(["b": "b.service"]), after: table)
        #expect(try #require(table[try request("b.service")]).secret == nil)
        table.take(ServedSecret(client: b, secret: issued))
        table.take(ServedSecret(client: b, secret: nil))
        #expect(try #require(table[try request("b.service")]).secret == nil)
    }
}
