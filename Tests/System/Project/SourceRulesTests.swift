import Foundation
import TestSupport
import Testing

/// Rules of the source that no compiler checks.
@Suite struct SourceRulesTests {
    private struct Source {
        let path: String
        let text: String
    }

    private static func sources() throws -> [Source] {
        let root = repository + "/Sources"
        let paths = try #require(FileManager.default.enumerator(atPath: root)).compactMap { $0 as? String }
        return try paths.filter { $0.hasSuffix(".swift") }.map {
            Source(path: $0, text: try String(contentsOfFile: root + "/" + $0, encoding: .utf8))
        }
    }

    /// The first use of Swift's global executor starts a monitor that wakes once a second for ever.
    @Test func nothingIsAsynchronous() throws {
        let word = try Regex(#"\b(async|await|actor)\b|\bTask\s*[.{(]|\bDispatchQueue\b"#)
        let sources = try Self.sources()
        #expect(sources.count > 200)
        for source in sources {
            let code = source.text.split(separator: "\n").filter { line in
                !line.drop { $0 == " " }.hasPrefix("//")
            }
            #expect(code.first { $0.contains(word) } == nil, "\(source.path)")
        }
    }

    /// All of Foundation takes ten megabytes more than its essentials.
    @Test func foundationIsNeverImportedWhole() throws {
        let whole = try Regex(#"(?m)^((public|package|internal|private) )?import Foundation$"#)
        for source in try Self.sources() { #expect(!source.text.contains(whole), "\(source.path)") }
    }

    /// What decides has no clock, file, thread or randomness of its own.
    @Test func theCoreImportsTheDomainAndItsFailuresAlone() throws {
        let line = try Regex(#"(?m)^(?:(?:public|package|internal|private) )?import (\w+)$"#)
        let core = try Self.sources().filter { $0.path.hasPrefix("Rotation/") || $0.path.hasPrefix("Model/") }
        #expect(core.count > 20)
        for source in core {
            for match in source.text.matches(of: line) {
                #expect(
                    ["AppleClientSecret", "Failures", "Model"].contains(match.output[1].substring), "\(source.path)")
            }
        }
    }

    /// A module that needs another one says so in the table of folders.
    @Test func modulesImportWhatTheTableOfFoldersNames() throws {
        let page = try String(contentsOfFile: repository + "/ARCHITECTURE.md", encoding: .utf8)
        let row = try Regex(#"(?m)^\| `([\w-]+)` \| .* \| (.*) \|$"#)
        let name = try Regex("`([\\w-]+)`")
        var mayUse: [String: String] = [:]
        for match in page.matches(of: row) {
            guard let module = match.output[1].substring, let used = match.output[2].substring else { continue }
            mayUse[String(module)] = String(used)
        }
        let line = try Regex(#"(?m)^(?:(?:public|package|internal|private) )?import (\w+)$"#)
        let namesThemAll = ["AppleClientSecret", "Failures", "Formats", "Model", "Rotation", "Linux"]
        for source in try Self.sources() {
            let module = String(source.path.prefix { $0 != "/" })
            let used = try #require(mayUse[module], "\(module) has no row")
            // The daemon may use all of them.
            guard !used.contains("all above"), !used.contains("what a command needs") else { continue }
            var allowed = Set(used.matches(of: name).compactMap { $0.output[1].substring.map(String.init) })
            if !namesThemAll.contains(module) { allowed.formUnion(["AppleClientSecret", "Failures"]) }
            for match in source.text.matches(of: line) {
                guard let imported = match.output[1].substring.map(String.init), mayUse[imported] != nil else {
                    continue
                }
                #expect(allowed.contains(imported), "\(source.path) imports \(imported)")
            }
        }
    }

    /// What is built today is what was tried: also the packages that others bring.
    @Test func everyPackageIsPinned() throws {
        let manifest = try String(contentsOfFile: repository + "/Package.swift", encoding: .utf8)
        let package = try Regex(#"\.package\(url: "[^"]*/([a-z-]+)", exact: "([0-9.]+)"\)"#)
        let pinned = Set(
            manifest.matches(of: package).map { "\($0.output[1].substring ?? "") \($0.output[2].substring ?? "")" })
        #expect(pinned.count == manifest.components(separatedBy: ".package(").count - 1)
        struct Resolved: Decodable {
            struct Pin: Decodable {
                struct State: Decodable { let version: String }
                let identity: String
                let state: State
            }
            let pins: [Pin]
        }
        let resolved = try JSONDecoder().decode(
            Resolved.self, from: Data(contentsOf: URL(fileURLWithPath: repository + "/Package.resolved")))
        #expect(Set(resolved.pins.map { "\($0.identity) \($0.state.version)" }) == pinned)
    }
}
