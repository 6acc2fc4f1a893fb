import AppleClientSecret
import ArgumentParser
import Config
import Failures
import Formats
import Model
import Rotation
import TestSupport
import Testing

@testable import clientsecretd

/// What `init --app` presets.
@Suite struct AppPresetTests {
    private static let ids = [
        "--key", "/etc/clientsecretd/AuthKey_ABC123DEFG.p8", "--team-id", "DEF123GHIJ", "--client-id",
        "com.example.web",
    ]

    private func client(_ words: [String]) throws -> ClientConfiguration {
        let text = try InitCommand.parse(Self.ids + words).given.configuration().text(isOfService: true)
        return try #require(try parsed(text).configuration.clients.values.first)
    }

    /// Flags alone are enough for each of them, and what is written is accepted.
    @Test(arguments: AppPreset.allValueStrings) func eachMakesAConfiguration(_ name: String) throws {
        let preset = try #require(AppPreset(argument: name))
        let unit = preset.verb.map { ["--\($0.rawValue)", "shop.service"] } ?? []
        let client = try client(["--app", name, "--output", "/srv/shop/secret"] + unit)
        let output = try #require(client.outputs.first)
        #expect(output.format.name == preset.format)
        #expect(output.slot == preset.variable.map { .variable($0) } ?? .whole)
        #expect(client.onChange == (preset.verb.map { [.unit(verb: $0, unit: "shop.service")] } ?? []))
    }

    @Test func theUnitOfAPackageIsKnown() throws {
        let client = try client(["--app", "synapse", "--output", "/srv/synapse/apple.jwt"])
        #expect(client.onChange == [.unit(verb: .restart, unit: "matrix-synapse.service")])
    }

    @Test func flagsTakePrecedence() throws {
        let client = try client([
            "--app", "laravel", "--output", "/srv/shop/.env", "--variable", "OTHER", "--start", "cache.service",
        ])
        #expect(client.outputs.first?.slot == .variable("OTHER"))
        #expect(client.onChange == [.unit(verb: .start, unit: "cache.service")])
    }

    /// Nothing else makes a container read a new secret.
    @Test(arguments: [
        (
            "docker-compose",
            "The systemd unit that runs \"docker compose up -d\" (see docs/apps.md) (empty: none, the app keeps the old secret): ",
            ": docker compose up -d"
        ),
        (
            "supabase",
            "The systemd unit that runs \"docker compose up -d\" (see docs/apps-servers.md) (empty: none, as with --config-dir): ",
            ", unless it runs with --config-dir: docker compose up -d"
        ),
    ])
    func anAppThatNothingStartsAgainIsLeftToThePerson(_ name: String, _ question: String, _ end: String) throws {
        let app = try #require(AppPreset(argument: name))
        let flags = Self.ids + ["--app", name, "--output", "/srv/.env", "--as", "root"]
        let person = Person([""])
        let answers = try person.dialog.complete(InitCommand.parse(flags).given)
        #expect(person.shown == [question])
        let words = "start the application again now and after each renewal, because nothing else does"
        #expect(try NextSteps.restart(answers.configuration(), app) == words + end)
        let told = try InitCommand.parse(flags + ["--start", "app-compose.service"]).given.configuration()
        #expect(NextSteps.restart(told, app) == nil)
    }

    /// Of other programs those that read a variable; a program that reads a file by itself needs no start.
    @Test func aVariableIsReadAtTheStart() throws {
        func step(_ flags: String...) throws -> String? {
            let given = try InitCommand.parse(Self.ids + ["--output", "/srv/out"] + flags).given
            return try NextSteps.restart(given.configuration(), given.app)
        }
        let words = "start the application again now and after each renewal, because nothing else does"
        #expect(try step("--format", "env", "--variable", "SECRET") == words)
        #expect(try step("--format", "env", "--variable", "SECRET", "--restart", "a.service") == nil)
        #expect(try step("--format", "raw") == nil)
        #expect(try step("--app", "synapse", "--restart", "a.service") == nil)
        #expect(try step("--app", "oauth2-proxy") == nil)
    }

    @Test func theSettingThatNamesTheFileIsKnown() throws {
        let text =
            "client_secret = \"\(Claims.sample(issuedAt: 1_500_000_000, expiresAt: 1_510_000_000).sampleText)\"\n"
        let file = try #require(AbsolutePath("/etc/oauth2-proxy.cfg"))
        let found = try #require(FoundClient.all(in: Array(text.utf8), of: file.description).first)
        let output = ["--output", "/run/clientsecretd/out/web.jwt"]
        func change(_ words: [String]) throws -> String? {
            let command = try InitCommand.parse(Self.ids + output + words)
            return NextSteps.change(file, found, to: try command.given.configuration(), command.app)
        }
        #expect(
            try change(["--app", "oauth2-proxy"])
                == "/etc/oauth2-proxy.cfg:1: remove client_secret, write client_secret_file = "
                + "\"/run/clientsecretd/out/web.jwt\"; then restart it once")
        #expect(
            try change(["--restart", "shop.service"])
                == "/etc/oauth2-proxy.cfg:1: let the application read /run/clientsecretd/out/web.jwt instead of this line; "
                + "then restart it once: systemctl restart shop.service")
    }

    /// What is asked for at a terminal: the file and its owner, or its group, and the unit if there is one.
    @Test(arguments: [
        ("authjs", ["/srv/shop/.env", "root", "shop.service"]),
        ("supabase", ["/srv/shop/.env", "root", "compose.service"]),
        ("oauth2-proxy", ["root", ""]), ("spring", ["", "", "shop.service"]), ("synapse", ["", ""]),
    ])
    func littleIsAskedFor(_ name: String, _ lines: [String]) throws {
        let person = Person(lines)
        let answers = try person.dialog.complete(InitCommand.parse(Self.ids + ["--app", name]).given)
        #expect(person.lines.isEmpty)
        let preset = try #require(AppPreset(argument: name))
        #expect(answers.variable == preset.variable)
        #expect((answers.unit == nil) == (preset.verb == nil))
        if let file = preset.file { #expect(answers.output?.name == file) }
    }
}
