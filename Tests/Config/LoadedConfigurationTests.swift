import Failures
import Foundation
import Linux
import Model
import TestSupport
import Testing

@testable import Config

/// What files say of a configuration that was accepted.
@Suite struct LoadedConfigurationTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        // Every user may go through it, whatever the mode of a temporary directory.
        try directory.permit(0o755)
    }

    /// A configuration whose client has these outputs, with further lines.
    private func load(_ outputs: String, _ lines: String = "") throws -> LoadedConfiguration {
        let text = """
            keys: {apple: {team_id: DEF123GHIJ, file: /nonexistent/AuthKey_ABC123DEFG.p8}}
            clients: {web: {client_id: com.example.web, outputs: [\(outputs)]}}
            \(lines)

            """
        try directory.write(text, to: "c.yaml", mode: 0o644)
        return try ConfigurationLoader.load(path: directory("c.yaml"), as: .current()).get()
    }

    /// Why the files of a target cannot be used.
    private func problems(_ loaded: LoadedConfiguration, as identity: Identity = .current()) throws -> [Failure] {
        loaded.problems(withFilesOf: try #require(TargetName("a")), as: identity)
    }

    /// What the program that pushes will find in it.
    @Test func aTokenFileThatCannotBeUsedIsNamed() throws {
        let path = directory("token")
        let loaded = try load(
            "{push: a}, {push: b}, {push: c}",
            """
            targets:
              a: {kind: supabase, project: a, token_file: \(path)}
              b: {kind: pocketbase, endpoint: "https://a.example", user: a@example.com, token_file: \(path)}
              c: {kind: aws_secrets_manager, region: eu-west-1, secret_id: a, token_file: \(path)}
            """)
        func details(_ targets: String...) -> [String?] {
            targets.map { name in
                TargetName(name).flatMap { loaded.problems(withFilesOf: $0, as: .current()).first }.map {
                    $0.message.replacing("target \"\(name)\": the target's token cannot be used: ", with: "")
                }
            }
        }
        #expect(details("a") == ["\(path): no such file or directory"])
        try directory.folder("token")
        #expect(details("a") == ["\(path) is not a regular file"])
        try FileManager.default.removeItem(atPath: path)
        try directory.write(" \n", to: "token", mode: 0o600)
        #expect(details("a") == ["\(path) is empty or not text"])
        try directory.write("abc\ndef\n", to: "token", mode: 0o600)
        // A password may have any characters.
        #expect(
            details("a", "b", "c") == [
                "it contains characters that a header cannot have", nil,
                "it needs the lines AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=…",
            ])
        try directory.write("-----BEGIN PRIVATE KEY-----\nAAAA\n", to: "token", mode: 0o600)
        #expect(details("a") == ["\(path) holds a private key, which is never sent"])
        try directory.write("abc\n", to: "token", mode: 0o600)
        #expect(details("a", "b", "none") == [nil, nil, nil])
    }

    /// Such a user decides which account the secret goes to.
    @Test(.needs(.root)) func aTokenThatOthersMayWriteIsNamed() throws {
        let path = try directory.write("abc\n", to: "token", mode: 0o600)
        let authorities = try directory.write("-----BEGIN CERTIFICATE-----\nAAAA\n", to: "ca.pem", mode: 0o644)
        let loaded = try load(
            "{push: a}", "targets: {a: {kind: supabase, project: a, token_file: \(path), ca_file: \(authorities)}}")
        func failures(as identity: Identity = .root) throws -> [Failure] { try problems(loaded, as: identity) }
        #expect(try failures() == [])
        for file in [path, authorities] {
            let mode = file == path ? 0o600 : 0o644
            unsafe chmod(file, 0o666)
            let open = try failures()
            #expect(open.map(\.code) == [.pushFileNotGuarded])
            #expect(open.first?.detail == "\(file): the file is writable by its group and every other user")
            #expect(open.first?.remedy?.description.contains("chmod go-w \(file)") == true, "\(open)")
            unsafe chmod(file, mode_t(mode))
            unsafe chown(file, 12_345, 0)
            let foreign = try failures()
            #expect(foreign.map(\.code) == [.pushFileNotGuarded])
            #expect(foreign.first?.remedy?.description.contains("chmod") == false, "\(foreign)")
            #expect(try failures(as: Identity(user: 12_345, group: 0)) == [])
            unsafe chown(file, 0, 0)
        }
        // A path may be wrong: such a file may have to be open.
        try directory.write("a letter\nof two lines\n", to: "token", mode: 0o660)
        #expect(try failures().map(\.code) == [.pushFileNotGuarded])
        #expect(try failures().first?.remedy?.description.contains("chmod") == false)
    }

    /// The same of the file with the API's authorities.
    @Test func aFileWithoutAuthoritiesIsNamed() throws {
        let path = directory("ca.pem")
        let loaded = try load(
            "{push: a}", "targets: {a: {kind: supabase, project: a, token_credential: a, ca_file: \(path)}}")
        func messages() throws -> [String] { try problems(loaded).map(\.message) }
        let start = "target \"a\": the target's \"ca_file\" cannot be used: \(path)"
        #expect(try messages() == [start + ": no such file or directory"])
        try directory.write("-----BEGIN PRIVATE KEY-----\nAAAA\n", to: "ca.pem", mode: 0o644)
        #expect(try messages() == [start + " holds no certificate in PEM"])
        try directory.write("text\n-----BEGIN CERTIFICATE-----\nAAAA\n", to: "ca.pem", mode: 0o644)
        #expect(try messages() == [])
    }

    /// A failure of the store is reported at its section.
    @Test func theStoreHasALine() throws {
        let loaded = try load(
            "{path: \(directory("web.jwt"))}", "store: {endpoints: [\"https://etcd:2379\"]}")
        let line = FailurePositions(in: loaded).diagnostic(Failure(.storeFileUnusable, at: .store)).description
        #expect(line.hasPrefix("\(directory("c.yaml")):3:1: error: the store: "), "\(line)")
    }

    @Test func aFileThatEveryUserMayReadStaysSo() throws {
        let output = "{path: \(directory("web.env")), format: env, variable: SECRET}"
        func warnings(_ output: String) throws -> [String] { try load(output).readabilityWarnings.map(\.description) }
        #expect(try warnings(output) == [], "there is none yet")
        try directory.write("A=1\n", to: "web.env", mode: 0o644)
        let warning =
            "\(directory("c.yaml")):2:62: warning: every user may read \(directory("web.env")), because its mode 0644 is kept; "
            + "write \"mode: 0640\""
        #expect(try warnings(output) == [warning])
        #expect(try warnings("{path: \(directory("web.env")), format: env, variable: SECRET, mode: 0640}") == [])
        try directory.permit(0o640, "web.env")
        #expect(try warnings(output) == [])
        try directory.permit(0o644, "web.env")
        try directory.permit(0o750)
        #expect(try warnings(output) == [], "nobody else gets to it")
    }
}
