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

    /// What is asked for at a terminal: the file and its owner, or its group, and the unit if there is one.
    @Test(arguments: [
        ("authjs", ["/srv/shop/.env", "root", "shop.service"]),
        ("supabase", ["/srv/shop/.env", "root", "compose.service"]),
        ("oauth2-proxy", ["root", ""]), ("spring", ["", "", "shop.service"]), ("synapse", ["", ""]),
    ])
    func littleIsAskedFor(_ name: String, _ lines: [String]) throws {
        var lines = lines
        let dialog = SetupDialog(ask: { _ in lines.isEmpty ? nil : lines.removeFirst() }, say: { _ in })
        let given = try InitCommand.parse(Self.ids + ["--app", name]).given
        let answers = try dialog.complete(given)
        #expect(lines.isEmpty)
        let preset = try #require(AppPreset(argument: name))
        #expect(answers.variable == preset.variable)
        #expect((answers.unit == nil) == (preset.verb == nil))
        if let file = preset.file { #expect(answers.output?.name == file) }
    }
}
