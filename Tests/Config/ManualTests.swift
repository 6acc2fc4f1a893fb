import Foundation
import TestSupport
import Testing

@testable import Config

/// What clientsecretd.yaml(5) explains is what the configuration takes.
@Suite struct ManualTests {
    private let page: String

    init() throws {
        page = try String(contentsOfFile: repository + "/docs/man/clientsecretd.yaml.5", encoding: .utf8)
    }

    /// The lines of one section.
    private func section(_ name: String) throws -> [Substring] {
        let start = try #require(page.range(of: "\n.Sh \(name)\n")).upperBound
        return page[start...].split(separator: "\n").prefix { !$0.hasPrefix(".Sh ") }.map { $0 }
    }

    /// The settings after these macros: those that a section lists, or those that it speaks of.
    private func settings(after macro: String, in lines: [Substring]) -> [String] {
        lines.filter { $0.hasPrefix(macro + " ") }.flatMap { line in
            line.dropFirst(macro.count).split { $0 == " " || $0 == "," }.map(String.init)
                .filter { ![".", ";", ":"].contains($0) }
        }
    }

    @Test(arguments: [
        ("TOP LEVEL", TopLevelSettings.names), ("KEYS", KeySettings.names),
        ("CLIENTS", ClientSettings.names), ("OUTPUTS", ["push"] + FileOutput.names),
        ("ACTIONS", ActionKinds.names), ("CREDENTIALS", CredentialSettings.names),
        ("STORE", StoreSettings.names),
    ])
    func everySettingIsExplainedAndNoneInvented(name: String, names: [String]) throws {
        #expect(settings(after: ".It Ic", in: try section(name)).sorted() == names.sorted())
    }

    @Test func whatIsSpokenOfExists() throws {
        let known = Set(
            TopLevelSettings.names + KeySettings.names + ClientSettings.names + FileOutput.names + ["push"]
                + ActionKinds.names + SignalAction.settings + CredentialSettings.names + StoreSettings.names)
        let spoken = settings(after: ".Ic", in: page.split(separator: "\n"))
        #expect(spoken.count >= 5)
        for name in spoken { #expect(known.contains(name), "\(name)") }
        #expect(Set(settings(after: ".Ic", in: try section("ACTIONS"))).isSuperset(of: SignalAction.settings))
    }
}
