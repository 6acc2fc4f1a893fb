import AppleClientSecret
import Failures
import Model
import Testing

@testable import Config

/// Files of the `.d` directory.
@Suite struct DropInFilesTests {
    private let main = "keys: {a: {team_id: DEF123GHIJ, key_id: ABC123DEFG, credential: a}}\n"

    @Test func addKeysAndClients() throws {
        let loaded = try parse(
            main + "defaults: {lifetime: 10d, key: b}",
            additions: [
                ("10.yaml", "clients: {one: {key: a, outputs: [{path: /run/one}]}}"),
                ("20.yaml", "# nothing yet"),
                (
                    "30.yaml",
                    "keys: {b: {team_id: DEF123GHIJ, key_id: ABC123DEFG, credential: b}}\nclients: {two: {outputs: [{path: /run/two}]}}"
                ),
            ]
        ).get()
        #expect(loaded.configuration.keys.keys.map(\.description).sorted() == ["a", "b"])
        #expect(
            loaded.configuration.clients.mapValues(\.key.description).map { "\($0.key) \($0.value)" }.sorted() == [
                "one a", "two b",
            ])
        #expect(loaded.configuration.clients.values.allSatisfy { $0.lifetime.seconds == 864_000 })
        #expect(
            loaded.files.map(\.description) == [
                "/etc/c.yaml", "/etc/c.d/10.yaml", "/etc/c.d/20.yaml", "/etc/c.d/30.yaml",
            ])
        let two = try #require(ClientName("two"))
        let position = FailurePositions(in: loaded).position(of: Failure(.diskFull, at: .client(two)), client: nil)
        #expect(position.description == "c.d/30.yaml:2:11")
    }

    @Test func aNameTwiceIsAnErrorThatNamesBothPlaces() {
        let said = diagnose(
            main + "clients: {web: {outputs: [{path: /run/web}]}}",
            additions: [
                ("10.yaml", "clients: {web: {outputs: [{path: /run/other}]}, api: {outputs: [{path: /run/web}]}}"),
                ("20.yaml", "\nkeys: {a: {team_id: DEF123GHIJ, key_id: ABC123DEFG, credential: a}}"),
            ])
        #expect(
            said == [
                #"c.d/10.yaml:1:11: error: client "web" is already defined at c.yaml:2:11; keep one"#,
                #"c.d/10.yaml:1:72: error: /run/web is already an output of client "web" (c.yaml:2:34); "#
                    + "write another path, or format env in both",
                #"c.d/20.yaml:2:8: error: key "a" is already defined at c.yaml:1:8; keep one"#,
            ])
    }

    @Test func nothingButKeysAndClientsBelongsThere() {
        let said = diagnose(
            main + "clients: {web: {outputs: [{path: /run/web}]}}",
            additions: [("x.yaml", "defaults: {lifetime: 1d}\nstate_dir: /srv\nclient: {}\nclients: {}")])
        #expect(
            said == [
                #"c.d/x.yaml:1:1: error: "defaults" belongs in c.yaml; this file may add keys and clients only"#,
                #"c.d/x.yaml:2:1: error: "state_dir" belongs in c.yaml; this file may add keys and clients only"#,
                #"c.d/x.yaml:3:1: error: unknown key "client"; did you mean "clients"?"#,
            ])
    }

    /// What a broken file defines is not known: its clients and keys are not missed. Errors elsewhere are told.
    @Test func errorsOfAllFilesAreReportedTogether() {
        let said = diagnose(
            "clients: {web: {key: b, lifetime: 1, outputs: [{path: /run/web}]}}",
            additions: [("x.yaml", "keys: {b: ["), ("y.yaml", "clients: {api: {verify: no}}")])
        #expect(
            said == [
                #"c.yaml:1:35: error: "1" has no unit; write 1s, 1m, 1h or 1d"#,
                #"c.d/x.yaml:1:12: error: the file ends inside "[" or "{"; close it with "]" or "}""#,
                #"c.d/y.yaml:1:25: error: "no" is neither true nor false; write false"#,
            ])
    }

    @Test func anEmptyMainFileIsAnErrorWhateverTheDirectoryHolds() {
        let said = diagnose("", additions: [("x.yaml", main + "clients: {web: {outputs: [{path: /run/web}]}}")])
        #expect(
            said == [
                #"c.yaml:1:1: error: the file is empty; write keys and clients, or remove it and create one with 'init'"#
            ])
    }

    @Test(arguments: [
        ("/etc/c.yaml", "/etc/c.d"), ("/etc/c.yml", "/etc/c.d"), ("/etc/c", "/etc/c.d"),
        ("/etc/c.conf", "/etc/c.conf.d"),
        ("/etc/.yaml", "/etc/.yaml.d"),
    ])
    func theDirectoryIsNamedLikeTheFile(file: String, directory: String) throws {
        #expect(ConfigurationParser.directory(of: try #require(AbsolutePath(file))).description == directory)
    }

    @Test func outputsInTheServicesStateDirectoryAreRefused() throws {
        let text = main + "clients: {web: {outputs: [{path: /srv/own/web}]}}"
        let error = try #require(parse(text, stateDirectory: AbsolutePath("/srv/own")).refusal, "it was accepted")
        #expect(
            error.diagnostics.map(\.description) == [
                "c.yaml:2:34: error: /srv/own/web is in the state directory /srv/own; write another path"
            ])
        // The file's own word comes first.
        #expect(throws: Never.self) {
            try parse(text + "\nstate_dir: /srv/other", stateDirectory: AbsolutePath("/srv/own")).get()
        }
    }
}
