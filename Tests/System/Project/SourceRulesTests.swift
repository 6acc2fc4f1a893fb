import Foundation
import TestSupport
import Testing

/// Rules of the source that no compiler checks.
@Suite struct SourceRulesTests {
    /// What `grep` finds in the sources, as `PATH:TEXT`. Swift's own regular expressions take half a minute for all of them.
    private static func found(_ pattern: String) throws -> [String] {
        let found = try run(
            ["grep", "--recursive", "--include=*.swift", "--only-matching", "--perl-regexp", pattern, "."],
            directory: repository + "/Sources")
        try #require(found.complaints == "", "\(found.complaints)")
        return found.output.split(separator: "\n").map { String($0.dropFirst("./".count)) }
    }

    /// What each file imports.
    private static func imports() throws -> [(path: String, module: String)] {
        let found = try found(#"^((public|package|internal|private) )?import \w+$"#)
        try #require(found.count > 400)
        return found.map { line in
            (String(line.prefix { $0 != ":" }), String(line.split(separator: " ").last ?? ""))
        }
    }

    /// The first use of Swift's global executor starts a monitor that wakes once a second for ever.
    @Test func nothingIsAsynchronous() throws {
        let code = #"^(?! *//).*"#
        #expect(try Self.found(code + #"\bmutating func\b"#).count > 100)
        #expect(try Self.found(code + #"(\b(async|await|actor)\b|\bTask\s*[.{(]|\bDispatchQueue\b)"#) == [])
    }

    /// All of Foundation takes ten megabytes more than its essentials.
    @Test func foundationIsNeverImportedWhole() throws {
        #expect(try Self.imports().filter { $0.module == "Foundation" }.map(\.path) == [])
    }

    /// What decides has no clock, file, thread or randomness of its own. A digest has none either.
    @Test func theCoreImportsOnlyTheDomainAndItsFailures() throws {
        let core = try Self.imports().filter { $0.path.hasPrefix("Rotation/") || $0.path.hasPrefix("Model/") }
        #expect(core.count > 20)
        for (path, module) in core {
            #expect(["AppleClientSecret", "Digest", "Failures", "Model"].contains(module), "\(path)")
        }
    }

    /// A dependency that is declared and not used hides what a module depends on.
    @Test func modulesImportWhatTheManifestNames() throws {
        let manifest = try String(contentsOfFile: repository + "/Package.swift", encoding: .utf8)
        let list = #/(?s)(?:source\(|\.executableTarget\(\s*name:)\s*"([\w-]+)",\s*(?:uses|dependencies): \[(.*?)\]/#
        var imported: [String: Set<String>] = [:]
        for (path, module) in try Self.imports() {
            imported[String(path.prefix { $0 != "/" }), default: []].insert(module)
        }
        let modules = manifest.matches(of: list).map(\.output).filter { imported[String($0.1)] != nil }
        #expect(modules.count > 15)
        for (_, module, dependencies) in modules {
            let dependencies = dependencies.replacing(#/, package: "[\w-]+"/#, with: "")
                .replacing("systemPackage", with: #""SystemPackage""#)
            let names = Set(dependencies.matches(of: #/"([\w-]+)"/#).map { String($0.output.1) })
            // The manifest says why these are named.
            let unused = names.subtracting(imported[String(module)] ?? []).subtracting(["Atomics", "DequeModule"])
            #expect(unused == [], "\(module)")
        }
    }

    /// A name that is written twice can be misspelt once: then a remedy names a unit that no machine has.
    @Test func theNamesOfThePackagesUnitsHaveOneOwner() throws {
        let names = try Self.found(#""clientsecretd[-a-z]*(@[^"]*)?\.(service|socket|timer|target)""#)
        #expect(names.count > 10)
        #expect(names.filter { !$0.hasPrefix("Failures/PackageUnit.swift:") } == [])
    }

    /// What is built today is what was tried: also the packages that others bring.
    /// The shell empties that file before the command starts, so nothing is ever found there.
    @Test func noCommandOfABedReadsTheFileThatItsOutputIsWrittenTo() throws {
        let found = try run(
            ["grep", "--recursive", "--extended-regexp", #"^ *(promise|refused|exits|eventually) .*\$seen"#, "."],
            directory: repository + "/Tests/System/bed")
        #expect(found.status == 1 && found.output + found.complaints == "", "\(found.output)\(found.complaints)")
    }

    @Test func everyPackageIsPinned() throws {
        let manifest = try String(contentsOfFile: repository + "/Package.swift", encoding: .utf8)
        let package = #/\.package\(url: "[^"]*/([a-z-]+)", exact: "([0-9.]+)"\)/#
        let pinned = Set(manifest.matches(of: package).map { "\($0.output.1) \($0.output.2)" })
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
