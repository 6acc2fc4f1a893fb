import Foundation
import Push
import TestSupport
import Testing

@testable import Config

/// What docs/configuration.md and docs/configuration-targets.md explain, and with them clientsecretd.yaml(5), is what the
/// configuration takes.
@Suite struct ManualTests {
    private let text: String

    init() throws {
        text = try ["configuration", "configuration-targets"].map {
            try String(contentsOfFile: "\(repository)/docs/\($0).md", encoding: .utf8)
        }.joined(separator: "\n")
    }

    /// The lines of one section.
    private func section(_ name: String) throws -> [Substring] {
        let start = try #require(text.range(of: "\n## \(name)\n")).upperBound
        return text[start...].split(separator: "\n", omittingEmptySubsequences: false).prefix { !$0.hasPrefix("## ") }
            .map { $0 }
    }

    /// The lines of a section's part, or without a name those before its first part.
    private func part(_ name: String?, of section: [Substring]) throws -> [Substring] {
        var rest = section[...]
        if let name { rest = rest.dropFirst(try #require(rest.firstIndex(of: "### \(name)")) + 1) }
        return rest.prefix { !$0.hasPrefix("### ") }.map { $0 }
    }

    /// The settings in the tables with this header.
    private func settings(under header: String = "setting", in lines: [Substring]) -> [String] {
        var isInTable = false
        return lines.flatMap { line -> [String] in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("| "), let first = cells.first else {
                isInTable = false
                return []
            }
            guard isInTable else {
                isInTable = first == header
                return []
            }
            return first.matches(of: #/`([^`]+)`/#).map { String($0.output.1) }
        }
    }

    @Test(arguments: [
        ("Top level", TopLevelSettings.names), ("Keys", KeySettings.names),
        ("Clients", ClientSettings.names), ("Outputs", ["push"] + FileOutputSettings.names),
        ("Actions", ActionKinds.names), ("Credentials", ["unit", "name"]),
        ("Store", StoreSettings.names),
    ])
    func everySettingIsExplainedAndNoneInvented(name: String, names: [String]) throws {
        #expect(settings(in: try section(name)).sorted() == names.sorted())
    }

    @Test func everySettingOfATargetIsExplainedByItsKind() throws {
        let targets = try section("Targets")
        var kinds = [(name: "http", settings: TargetSettings.custom)]
        for kind in PushKind.all {
            kinds.append(
                (kind.name, kind.settings.map(\.name) + (kind.deployedBy == nil ? [] : TargetSettings.deployed)))
        }
        let parts = targets.filter { $0.hasPrefix("### ") }.map { String($0.dropFirst(4)) }
        #expect(parts.sorted() == kinds.map(\.name).sorted())
        #expect(settings(in: try part(nil, of: targets)).sorted() == TargetSettings.shared.sorted())
        for kind in kinds {
            let explained = settings(in: try part(kind.name, of: targets))
            #expect(explained.sorted() == kind.settings.sorted(), "\(kind.name)")
        }
        let read = settings(under: "setting of `read`", in: try part("http", of: targets))
        #expect(read.sorted() == TargetSettings.read.sorted())
    }

    @Test func everySettingOfARolloutIsExplained() throws {
        let explained = settings(under: "setting of `rollout`", in: try section("Clients"))
        #expect(explained.sorted() == RolloutSettings.names.sorted())
    }

    /// A setting is written with its colon where it is spoken of.
    @Test func everySettingThatIsSpokenOfExists() throws {
        let targets: [String] =
            TargetSettings.shared + TargetSettings.deployed + TargetSettings.custom + TargetSettings.read
            + PushKind.all.flatMap(\.settings).map(\.name)
        let others: [String] = ActionKinds.names + StoreSettings.names + ["push", "unit", "signal", "name"]
        let known = Set(
            TopLevelSettings.names + KeySettings.names + ClientSettings.names + FileOutputSettings.names + others
                + targets)
        func spoken(in lines: [Substring]) -> Set<String> {
            Set(lines.flatMap { $0.matches(of: #/`([a-z_]+):`/#).map { String($0.output.1) } })
        }
        #expect(spoken(in: text.split(separator: "\n")).subtracting(known) == [])
        #expect(spoken(in: try section("Actions")).isSuperset(of: ["unit", "signal"]))
    }
}
