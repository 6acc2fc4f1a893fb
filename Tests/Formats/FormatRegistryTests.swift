import Foundation
import Model
import TestSupport
import Testing

@testable import Formats

/// A format is one file and its line in the registry.
@Suite struct FormatRegistryTests {
    @Test func noOtherSourceNamesAFormat() throws {
        let sources = URL(fileURLWithPath: repository + "/Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        let names = FormatRegistry.all.map { $0.name }
        // Their types, and their names as whole literals: as words, such as "raw", they occur in other meanings.
        let types = FormatRegistry.all.map { "\($0)" }
        var searched = 0
        var found: [String] = []
        for case let file as URL in files where file.pathExtension == "swift" && !file.path.contains("/Formats/") {
            searched += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            let place = String(file.path.dropFirst(sources.path.count + 1))
            for name in names where text.contains("\"\(name)\"") { found.append("\(place): \"\(name)\"") }
            for type in types where text.contains(type) { found.append("\(place): \(type)") }
        }
        #expect(searched > 100)
        #expect(found == [])
    }

    /// A format that is asked for by what it is for is one too that others depend on.
    ///
    /// What stays, and why:
    /// - systemd's `EnvironmentFile=` and dotenv files have a form of their own, and `init` writes what reads them, and finds
    ///   secrets there.
    /// - Programs that `init` knows read a certain format.
    /// - The body of an `http` target is a text in the language of templates, which has no file.
    /// - `--variable` is an option of its own, checked before it is known which format has it.
    @Test func aFormatsUseIsAskedOnlyWhereSomethingElseFixesIt() throws {
        let sources = URL(fileURLWithPath: repository + "/Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        let asked =
            #/\bFormatRegistry\.(?!all\b|standard\b|named\b|candidate\b|isPlain\b|guess\b|canSet\b|holdsSecretOnly\b|holdsOtherLines\b|hasTextBeforeSecret\b)\w+|\bVariableName\b/#
            .wordBoundaryKind(.simple)
        var found: [String] = []
        for case let file as URL in files where file.pathExtension == "swift" && !file.path.contains("/Formats/") {
            let place = String(file.path.dropFirst(sources.path.count + 1))
            let text = try String(contentsOf: file, encoding: .utf8)
            found += Set(text.matches(of: asked).map { "\(place): \($0.output)" })
        }
        #expect(
            found.sorted() == [
                "Config/TargetSettings+HTTP.swift: FormatRegistry.template",
                "Push/PushExchange+Requests.swift: FormatRegistry.template",
                "clientsecretd/Commands/Init/AppPreset.swift: FormatRegistry.environment",
                "clientsecretd/Commands/Init/AppPreset.swift: FormatRegistry.json",
                "clientsecretd/Commands/Init/FoundClient.swift: FormatRegistry.environment",
                "clientsecretd/Commands/Init/InitAnswers.swift: FormatRegistry.environment",
                "clientsecretd/Commands/Init/InitDialog.swift: FormatRegistry.environment",
                "clientsecretd/Options/Flags.swift: VariableName",
            ])
    }

    /// `inspect` has no format said, and the file may be anybody's.
    @Test func aSecretIsFoundInAFileOfUnknownFormat() throws {
        func candidate(_ text: String, _ place: FileSlot = .whole) throws(FormatError) -> SecretCandidate {
            try FormatRegistry.candidate(in: Array(text.utf8), at: place)
        }
        let secret = try FormatTests.secret()
        for type in FormatRegistry.all where type.setting?.scope != .file {
            let place: FileSlot = type.setting == nil ? .whole : .variable("SECRET")
            let bytes = try type.init(parameter: nil).render([place: secret], into: [])
            #expect(try FormatRegistry.candidate(in: bytes, at: place) == .bytes(secret.token), "\(type.name)")
        }
        #expect(try candidate("\n a b \n") == .bytes(Array("a b".utf8)))
        #expect(try candidate(#" {"client_secret": "a b", "more": 1}"#) == .bytes(Array("a b".utf8)))
        #expect(try candidate("{}") == .missing(#"this is not a JSON object with a "client_secret""#))
        #expect(try candidate("A=1\n", .variable("B")) == .missing("B is not set in it"))
        #expect(throws: FormatError.self) { try candidate("A='1\n", .variable("A")) }
    }
}
