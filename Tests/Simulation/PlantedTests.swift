import Foundation
import Simulation
import Testing

/// README.md says which check notices which planted mistake.
@Suite struct PlantedTests {
    private static let readme = #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/README.md"

    /// The promises that each mistake breaks, by the table.
    private func table() throws -> [String: String] {
        let text = try String(contentsOfFile: Self.readme, encoding: .utf8)
        var rows: [String: String] = [:]
        for line in text.split(separator: "\n") {
            guard let row = line.wholeMatch(of: #/\| `(\w+)` \| ([\w, ]+) \| .+ \|/#) else { continue }
            #expect(rows.updateValue(String(row.2), forKey: String(row.1)) == nil, "\(row.1) stands there twice")
        }
        return rows
    }

    @Test func theTableNamesEveryPlantedMistakeAndWhatNoticesIt() throws {
        let planted = Sabotage.allCases.map { ("\($0)", $0.breaks.map(\.rawValue).sorted().joined(separator: ", ")) }
        #expect(try table() == Dictionary(uniqueKeysWithValues: planted))
    }
}
