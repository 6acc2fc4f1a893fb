import Foundation
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
}
