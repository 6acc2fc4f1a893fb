import Foundation
import TestSupport
import Testing

/// The manual pages that `make build` makes and `make install` lays down.
@Suite(.waits, .needs(.release, .tools)) struct ManualPagesTests {
    private let folder = repository + "/.build/generated/man/"
    private let binary = Binaries.daemon
    private static let network = "clientsecretd-network.8"

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder + name, encoding: .utf8)
    }

    /// What a program's help lists.
    private func commands(of program: String) throws -> [String] {
        let help = try run([program, "--help"]).output
        let listed = help.components(separatedBy: "SUBCOMMANDS:\n").dropFirst().flatMap { group in
            group.split(separator: "\n", omittingEmptySubsequences: false).prefix { !$0.isEmpty }
                .filter { !$0.hasPrefix("   ") }
        }
        return listed.compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    /// The options that a command's help lists, as a page has them.
    private func options(of program: String, _ command: String) throws -> [String] {
        let help = try runToSuccess([program, command, "--help"])
        let options = Set(help.matches(of: #/--[a-z-]+/#).map { String($0.output) })
        return options.subtracting(["--help", "--version"]).filter { help.contains("\n  \($0)") }.sorted()
            .map { $0.replacingOccurrences(of: "-", with: "\\-") }
    }

    @Test func bothProgramsEachCommandAndTheConfigurationHaveOne() throws {
        let commands = try commands(of: binary)
        #expect(commands.count >= 10)
        #expect(
            try names()
                == (commands.map { "clientsecretd-\($0).8" }
                + ["clientsecretd-network.8", "clientsecretd.8", "clientsecretd.yaml.5"]).sorted())
        let whole = try text("clientsecretd.8")
        for command in commands { #expect(whole.contains(".It Xr clientsecretd\\-\(command) 8\n"), "\(command)") }
    }

    /// What the units and the journal's catalog refer to.
    @Test func everyPageThatIsReferredToExists() throws {
        let names = Set(try names())
        for file in try FileManager.default.contentsOfDirectory(atPath: repository + "/systemd") {
            let text = try String(contentsOfFile: repository + "/systemd/" + file, encoding: .utf8)
            for reference in text.matches(of: #/man:([a-z.-]+)\(([0-9])\)/#) {
                #expect(names.contains("\(reference.output.1).\(reference.output.2)"), "\(file)")
            }
            let isUnit = [".service", ".socket", ".timer"].contains { file.hasSuffix($0) }
            if isUnit { #expect(text.contains("\nDocumentation=man:clientsecretd"), "\(file)") }
        }
    }

    @Test func everythingThatACommandTakesIsExplained() throws {
        var seen = 0
        for name in try names() where name.hasPrefix("clientsecretd-") && name != Self.network {
            let command = name.dropFirst("clientsecretd-".count).dropLast(".8".count)
            let page = try text(name)
            for option in try options(of: binary, String(command)) {
                #expect(page.contains("\n.It Fl \(option.dropFirst("\\-".count))"), "\(name): \(option)")
                seen += 1
            }
        }
        #expect(seen >= 50)
    }

    /// All roles are in one page, as its source has them.
    @Test func everyRoleOfTheNetworkProgramAndWhatItTakesIsExplained() throws {
        let page = try text(Self.network)
        let roles = try commands(of: Binaries.network)
        #expect(roles.count >= 7)
        var seen = 0
        for role in roles {
            #expect(page.contains("\\fB\\%\(role)\\fR") || page.contains("\\fB\\%\(role) "), "\(role)")
            for option in try options(of: Binaries.network, role) {
                #expect(page.contains("\n.It \\fB\\%\(option)"), "\(role): \(option)")
                seen += 1
            }
        }
        #expect(seen >= 15)
    }

    /// What `man` itself warns of lintian reports (`PackagesTests`).
    @Test func mandocHasNothingToSay() throws {
        for name in try names() {
            let lint = try run(["mandoc", "-T", "lint", "-W", "warning", folder + name])
            #expect(lint.output + lint.complaints == "", "\(name)")
        }
    }

    /// A command that is shown can be typed.
    @Test func shownCommandsCanBePasted() throws {
        for name in try names() {
            let shown = try run(["man", "-l", folder + name], environment: ["LC_ALL": "C.UTF-8", "MANWIDTH": "200"])
                .output
            #expect(!shown.contains("\u{2010}-"), "\(name)")
            #expect(shown.contains("clientsecretd"), "\(name)")
        }
    }
}
