import AppleClientSecret
import Config
import Failures
import Foundation
import Model
import Systemd
import TestSupport
import Testing

@testable import Daemon

/// What a unit takes from the daemon at its next start, against what the configuration gives it.
@Suite struct SecretReaderTests {
    private static let dropIn = "/etc/systemd/system/app.service.d/clientsecretd.conf"
    private static let last = "/etc/systemd/system/app.service.d/z.conf"

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Below `web`.
        let client: String
        /// The lines of the unit's drop-in from its second on.
        let lines: [String]
        /// Their credentials and environment files as systemd has them.
        var credentials: [String] = []
        /// Credentials that come from elsewhere: by which setting, and from where.
        var others: [String: [UnitSettings.Item]] = [:]
        var files: [String] = []
        /// The line of a drop-in that comes after those that commands write.
        var later = ""
        /// The detail and the remedy of each difference.
        let found: [String]
        var preventStart = false
    }

    private static let socket = "/run/clientsecretd/credentials.sock"
    private static let again = "run systemctl daemon-reload and clientsecretd reload, and restart app.service"
    private static let added =
        "(umask 022 && mkdir -p /etc/systemd/system/app.service.d && printf '%s\\n' '' '[Service]' "
        + "LoadCredential=apple:\(socket) >>/etc/systemd/system/app.service.d/outputs.conf) && systemctl daemon-reload && "
        + "clientsecretd reload web && systemctl try-restart app.service"
    private static let writing = "write LoadCredential=apple:\(socket) into its [Service] section: \(added)"
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
                    + "LoadCredential=apple:\(socket) into its [Service] section: \(added)"
            ]),
        Row(
            testDescription: "a file of the same name", client: credential,
            lines: ["LoadCredential=apple:/etc/hostname"],
            others: ["LoadCredential": [UnitSettings.Item(name: "apple", path: "/etc/hostname")]],
            found: [
                "it takes the credential apple from /etc/hostname, by LoadCredential= (\(dropIn):2), and not from the "
                    + "daemon; \(writing)"
            ]),
        Row(
            testDescription: "an encrypted file", client: credential,
            lines: ["LoadCredentialEncrypted=apple:/etc/a.cred"],
            others: ["LoadCredentialEncrypted": [UnitSettings.Item(name: "apple", path: "/etc/a.cred")]],
            found: [
                "it takes the credential apple from /etc/a.cred, by LoadCredentialEncrypted= (\(dropIn):2), and not from the "
                    + "daemon; \(writing)"
            ]),
        Row(
            testDescription: "one that systemd itself has", client: credential, lines: ["LoadCredential=apple"],
            others: ["LoadCredential": [UnitSettings.Item(name: "apple", path: "apple")]],
            found: [
                "it takes the credential apple from systemd, by LoadCredential= (\(dropIn):2), and not from the daemon; "
                    + writing
            ]),
        Row(
            testDescription: "a file that a later drop-in names", client: credential, lines: [],
            others: ["LoadCredential": [UnitSettings.Item(name: "apple", path: "/etc/hostname")]],
            later: "LoadCredential=apple:/etc/hostname",
            found: [
                "it takes the credential apple from /etc/hostname, by LoadCredential= (\(last):2), and not from the daemon; "
                    + "replace that line with LoadCredential=apple:\(socket), then \(again)"
            ]),
        Row(
            testDescription: "a text", client: credential, lines: ["SetCredential=apple:old"],
            others: ["SetCredential": [UnitSettings.Item(name: "apple")]],
            found: [
                "it takes the credential apple by SetCredential= (\(dropIn):2), and not from the daemon; \(writing)"
            ]),
        Row(
            testDescription: "imported ones", client: credential, lines: ["ImportCredential=app*"],
            others: ["ImportCredential": [UnitSettings.Item(name: "app*")]],
            found: [
                "it takes the credential apple by ImportCredential= (\(dropIn):2), and not from the daemon; \(writing)"
            ]),
        Row(
            testDescription: "a text in case the daemon is not there", client: credential,
            lines: ["LoadCredential=apple:\(socket)", "SetCredential=apple:old"], credentials: ["apple"],
            others: ["SetCredential": [UnitSettings.Item(name: "apple")]], found: []),
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
        let served = row.credentials.map { UnitSettings.Item(name: $0, path: Self.socket) }
        let settings = UnitSettings(
            values: [
                "LoadCredential": .items(served),
                "EnvironmentFiles": .items(row.files.map { UnitSettings.Item(name: $0) }),
            ].merging(row.others.mapValues { .items($0) }) { $1 },
            files: [
                UnitSettings.File(path: "/etc/systemd/system/app.service", text: "[Service]\nExecStart=true\n"),
                UnitSettings.File(
                    path: Self.dropIn, text: (["[Service]"] + row.lines).joined(separator: "\n") + "\n"),
                UnitSettings.File(path: Self.last, text: "[Service]\n\(row.later)\n"),
            ])
        let problems = SecretReader("app.service", settings).problems(in: configuration)
        #expect(
            problems.failures.map { "\($0.detail ?? ""); \($0.remedy?.description ?? "")" } == row.found)
        #expect(problems.preventStart == row.preventStart)
        #expect(problems.failures.allSatisfy { $0.code == .unitMismatch && $0.place == .named("app.service") })
    }

    /// This takes far longer where the paths of all outputs are resolved for each file.
    @Test func eachOfAThousandOutputsIsKnown() throws {
        let directory = "/run/clientsecretd/out"
        let paths = try (0..<1_000).map { try #require(AbsolutePath("\(directory)/\($0).env")) }
        let client = ClientConfiguration(
            clientID: try #require(ClientID("com.example.web")), key: try #require(KeyName("apple")),
            lifetime: .maximum, renewBefore: 3600,
            outputs: paths.map { Output(path: $0, format: .env, slot: .variable("SECRET")) })
        let configuration = Configuration(keys: [:], clients: [try #require(ClientName("web")): client])
        let reader = SecretReader("app.service", UnitSettings(values: [:], files: []))
        #expect(paths.allSatisfy { !reader.isFormer($0.description, in: configuration) })
        #expect(!reader.isFormer("\(directory)/9*.env", in: configuration))
        #expect(reader.isFormer("\(directory)/gone.env", in: configuration))
    }
}
