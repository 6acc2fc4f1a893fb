import Config
import Model
import Systemd
import TestSupport
import Testing

@testable import clientsecretd

@Suite struct ReaderUnitTests {
    /// On a machine with hundreds of services it takes seconds, and half a minute if systemd does not answer.
    @Test func systemdIsAskedOnceAboutTheReadersOfAllClients() throws {
        let clients = try parsed(
            """
            keys: {apple: {team_id: DEF123GHIJ, file: /etc/clientsecretd/AuthKey_ABC123DEFG.p8}}
            clients:
              web: {client_id: com.example.web, outputs: [{path: /srv/web/.env, format: env, variable: SECRET}]}
              shop: {client_id: com.example.shop, outputs: [{path: /srv/shop/.env, format: env, variable: SECRET}]}
              blog: {client_id: com.example.blog, outputs: [{path: /srv/blog/token}]}
            """
        ).configuration.clients
        var count = 0
        let found = ReaderUnit.all(of: clients) {
            count += 1
            return nil
        }
        #expect(count == 1)
        #expect(found.values.allSatisfy { $0.units.isEmpty })
        // A file without a variable is no environment file.
        #expect(found.filter { $0.value.isAnswered }.keys.map(\.description) == ["blog"])
    }

    /// Its processes are judged as those of the unit that `on_change` names.
    @Test func aReaderThatOnChangeForgetsIsAUnitOfTheClient() throws {
        let clients = try parsed(
            """
            keys: {apple: {team_id: DEF123GHIJ, file: /etc/clientsecretd/AuthKey_ABC123DEFG.p8}}
            clients:
              web:
                client_id: com.example.web
                outputs: [{path: /srv/web/.env, format: env, variable: SECRET}]
                on_change: [{restart: no-such-app.service}]
            """
        ).configuration.clients
        let name = try #require(ClientName("web"))
        let found = ReaderUnit.all(of: clients, and: [name: ["no-such-app.service", "no-such-worker.service"]])
        let units = try #require(found[name]).units
        #expect(units.map(\.name) == ["no-such-app.service", "no-such-worker.service"])
        #expect(units.map(\.isConfigured) == [true, false])
    }

    /// A unit that names the file comes before those that only start in its directory.
    @Test func theUnitsThatAFileIsForAreFound() throws {
        let directory = try TemporaryDirectory()
        try directory.write("A=1\n", to: ".env")
        let file = try #require(AbsolutePath(directory(".env")))
        func names(_ units: [String: [String: UnitSettings.Value]]) -> [String] {
            ReaderUnit.names(reading: file, by: units.mapValues { UnitSettings(values: $0, files: []) })
        }
        let starting = ["WorkingDirectory": UnitSettings.Value.text(directory.path)]
        let naming = ["EnvironmentFiles": UnitSettings.Value.items([UnitSettings.Item(name: directory("*.env"))])]
        let other = ["WorkingDirectory": UnitSettings.Value.text("/"), "EnvironmentFiles": .items([])]
        #expect(names(["a.service": other]) == [])
        #expect(names(["b.service": starting, "a.service": other]) == ["b.service"])
        #expect(names(["b.service": starting, "a.service": starting]) == ["a.service", "b.service"])
        #expect(names(["b.service": starting, "c.service": naming]) == ["c.service"])
    }
}
