import Foundation
import Simulation
import Testing

/// README.md says which check notices which planted mistake, and how often which trouble strikes.
@Suite struct PlantedTests {
    private static let readme = #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/README.md"

    /// The promises that each mistake breaks, by the table.
    private func planted() throws -> [String: String] {
        let text = try String(contentsOfFile: Self.readme, encoding: .utf8)
        var rows: [String: String] = [:]
        for line in text.split(separator: "\n") {
            guard let row = line.wholeMatch(of: #/\| `(\w+)` \| ([a-zA-Z, ]+) \| .+ \|/#) else { continue }
            #expect(rows.updateValue(String(row.2), forKey: String(row.1)) == nil, "\(row.1) stands there twice")
        }
        return rows
    }

    @Test func theTableNamesEveryPlantedMistakeAndWhatNoticesIt() throws {
        let planted = Sabotage.allCases.map { ("\($0)", $0.breaks.map(\.rawValue).sorted().joined(separator: ", ")) }
        #expect(try self.planted() == Dictionary(uniqueKeysWithValues: planted))
    }

    @Test func theTableSaysHowOftenWhatHappens() throws {
        let text = try String(contentsOfFile: Self.readme, encoding: .utf8)
        let rows = text.split(separator: "\n").compactMap { line -> String? in
            line.wholeMatch(of: #/\| `(\w+)` \| ([0-9]+) \| .+ \|/#).map { "\($0.1) \($0.2)" }
        }
        #expect(rows == Strike.allCases.map { "\($0) \($0.weight)" })
        #expect(text.contains("| of \(Strike.total) |"))
        #expect(text.contains("Of \(Strike.total) strikes on average"))
    }
}
