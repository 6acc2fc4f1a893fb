import Foundation
import Push
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

    /// The lines of a section's part, or without a name those before its first part.
    private func part(_ name: String?, of section: [Substring]) throws -> [Substring] {
        var rest = section[...]
        if let name { rest = rest.dropFirst(try #require(rest.firstIndex(of: ".Ss \(name)")) + 1) }
        return rest.prefix { !$0.hasPrefix(".Ss ") }.map { $0 }
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

    @Test func everySettingOfATargetIsExplainedByItsKind() throws {
        let targets = try section("TARGETS")
        var kinds = [(name: "http", settings: TargetSettings.custom)]
        for kind in PushKind.all {
            kinds.append(
                (kind.name, kind.settings.map(\.name) + (kind.deployedBy == nil ? [] : TargetSettings.deployed)))
        }
        let parts = targets.filter { $0.hasPrefix(".Ss ") }.map { String($0.dropFirst(4)) }
        #expect(parts.sorted() == kinds.map(\.name).sorted())
        #expect(settings(after: ".It Ic", in: try part(nil, of: targets)).sorted() == TargetSettings.shared.sorted())
        for kind in kinds {
            let explained = settings(after: ".It Ic", in: try part(kind.name, of: targets))
            #expect(explained.sorted() == kind.settings.sorted(), "\(kind.name)")
        }
        #expect(Set(settings(after: ".It Ic", in: targets)) == Set(TargetSettings.names))
        #expect(settings(after: ".It Cm", in: try part("http", of: targets)).sorted() == TargetSettings.read.sorted())
    }

    @Test func everySettingOfARolloutIsExplained() throws {
        #expect(settings(after: ".It Cm", in: try section("CLIENTS")).sorted() == RolloutSettingsSection.names.sorted())
    }

    @Test func whatIsSpokenOfExists() throws {
        let known = Set(
            TopLevelSettings.names + KeySettings.names + ClientSettings.names + FileOutput.names + ["push"]
                + ActionKinds.names + SignalActionSettings.settings + CredentialSettings.names + StoreSettings.names
                + TargetSettings.names)
        let spoken = settings(after: ".Ic", in: page.split(separator: "\n"))
        #expect(spoken.count >= 5)
        for name in spoken { #expect(known.contains(name), "\(name)") }
        #expect(Set(settings(after: ".Ic", in: try section("ACTIONS"))).isSuperset(of: SignalActionSettings.settings))
    }
}
