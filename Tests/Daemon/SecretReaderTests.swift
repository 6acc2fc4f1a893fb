import Config
import Failures
import Foundation
import Model
import Systemd
import Testing

@testable import Daemon

/// What a unit takes from the daemon at its next start, against what the configuration gives it.
@Suite struct SecretReaderTests {
    private static let dropIn = "/etc/systemd/system/app.service.d/clientsecretd.conf"

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Below `web`.
        let client: String
        /// The lines of the unit's drop-in from its second on.
        let lines: [String]
        /// Their credentials and environment files as systemd has them.
        var credentials: [String] = []
        var files: [String] = []
        /// The detail and the remedy of each difference.
        let found: [String]
        var preventStart = false
    }

    private static let socket = "/run/clientsecretd/credentials.sock"
    private static let again = "run systemctl daemon-reload and clientsecretd reload, and restart app.service"
    private static let credential =
        "{credential: {unit: app.service, name: apple}, on_change: [{restart: app.service}]}"
    private static let output =
        "{outputs: [{path: /run/clientsecretd/out/app.env, format: env, variable: SECRET}], on_change: [{restart: app.service}]}"

    @Test(arguments: [
        Row(
            testDescription: "a credential that is given", client: credential,
            lines: ["LoadCredential=apple:\(socket)"], credentials: ["apple"], found: []),
        Row(
            testDescription: "a credential that was renamed", client: credential,
            lines: ["LoadCredential=tok:\(socket)"], credentials: ["tok"],
            found: [
                "it loads the credential tok (\(dropIn):2), which no client gives it, and not apple; replace "
                    + "that line with LoadCredential=apple:\(socket), then \(again)"
            ], preventStart: true),
        Row(
            testDescription: "the unit loads both names", client: credential,
            lines: ["LoadCredential=tok:\(socket)", "LoadCredential=apple:\(socket)"], credentials: ["tok", "apple"],
            found: [
                "it loads the credential tok (\(dropIn):2), which no client gives it, so its next start fails; remove that "
                    + "line, then \(again); or write \"credential: {unit: app.service, name: tok}\" under a client"
            ], preventStart: true),
        Row(
            testDescription: "the unit loads none", client: credential, lines: [],
            found: [
                "it does not load the credential apple: it has no LoadCredential= of that name; write "
                    + "LoadCredential=apple:\(socket) into its [Service] section, then \(again)"
            ]),
        Row(
            testDescription: "an output that is read", client: output,
            lines: ["EnvironmentFile=/run/clientsecretd/out/app.env"], files: ["/run/clientsecretd/out/app.env"],
            found: []),
        Row(
            testDescription: "an output that was renamed", client: output,
            lines: ["EnvironmentFile=/run/clientsecretd/out/web.env"], files: ["/run/clientsecretd/out/web.env"],
            found: [
                "it reads /run/clientsecretd/out/web.env (\(dropIn):2), which is no output, and does not start once that "
                    + "file is gone; replace that line with EnvironmentFile=/run/clientsecretd/out/app.env, then \(again)"
            ], preventStart: true),
        Row(
            testDescription: "one elsewhere that init has named, and whose client is gone",
            client: "{outputs: [{path: /srv/app/.env, format: env, variable: SECRET, as: app}]}",
            lines: ["EnvironmentFile=/srv/secrets/web.env"], files: ["/srv/secrets/web.env"],
            found: [
                "it reads /srv/secrets/web.env (\(dropIn):2), which is no output, and does not start once that file is "
                    + "gone; remove that line, then \(again); or add an output with that path"
            ], preventStart: true),
        Row(
            testDescription: "an application's own file", client: output, lines: [], files: ["/etc/default/app"],
            found: []),
    ])
    func aDifferenceIsNamedWithTheLineThatHelps(row: Row) throws {
        let text = """
            keys: {apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /etc/k.p8}}
            clients: {web: \(row.client)}
            """
        let path = try #require(AbsolutePath("/etc/c.yaml"))
        let configuration = try ConfigurationParser.parse(
            main: SourceFile(name: "c.yaml", path: path, bytes: Array(text.utf8))
        ).get().configuration
        let settings = UnitSettings(
            values: [
                "LoadCredential": .items(row.credentials.map { UnitSettings.Item(name: $0, path: Self.socket) }),
                "EnvironmentFiles": .items(row.files.map { UnitSettings.Item(name: $0) }),
            ],
            files: [
                UnitSettings.File(path: "/etc/systemd/system/app.service", text: "[Service]\nExecStart=true\n"),
                UnitSettings.File(
                    path: Self.dropIn, text: (["[Service]"] + row.lines).joined(separator: "\n") + "\n"),
            ])
        let problems = SecretReader("app.service", settings).problems(in: configuration)
        #expect(
            problems.failures.map { "\($0.detail ?? ""); \($0.remedy?.description ?? "")" } == row.found)
        #expect(problems.preventStart == row.preventStart)
        #expect(problems.failures.allSatisfy { $0.code == .unitMismatch && $0.place == .named("app.service") })
    }
}
