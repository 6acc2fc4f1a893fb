import Foundation
import Simulation
import Testing

/// README.md says which check notices which planted mistake, and how often which fault strikes.
@Suite struct PlantedTests {
    private static let readme = #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/README.md"

    /// The parts of the page about single machines and about fleets.
    private static let lives = 0
    private static let fleets = 1

    private func text(of part: Int) throws -> String {
        let parts = try String(contentsOfFile: Self.readme, encoding: .utf8).components(separatedBy: "\n## Fleets\n")
        try #require(parts.count == 2)
        return parts[part]
    }

    /// The promises that each mistake breaks, by the table.
    private func planted(of part: Int) throws -> [String: String] {
        let text = try text(of: part)
        var rows: [String: String] = [:]
        for line in text.split(separator: "\n") {
            guard let row = line.wholeMatch(of: #/\| `(\w+)` \| ([a-zA-Z, ]+) \| .+ \|/#) else { continue }
            #expect(rows.updateValue(String(row.2), forKey: String(row.1)) == nil, "\(row.1) stands there twice")
        }
        return rows
    }

    @Test func theTableNamesEveryPlantedMistakeAndWhatNoticesIt() throws {
        let planted = Sabotage.allCases.map { ("\($0)", $0.breaks.map(\.rawValue).sorted().joined(separator: ", ")) }
        #expect(try self.planted(of: Self.lives) == Dictionary(uniqueKeysWithValues: planted))
        let inFleets = FleetMistake.allCases.map {
            ("\($0)", $0.breaks.map(\.rawValue).sorted().joined(separator: ", "))
        }
        #expect(try self.planted(of: Self.fleets) == Dictionary(uniqueKeysWithValues: inFleets))
    }

    @Test func theTableSaysHowOftenWhatHappens() throws {
        let text = try text(of: Self.lives)
        let rows = rows(text)
        #expect(rows == Strike.allCases.map { "\($0) \($0.weight)" })
        #expect(text.contains("| of \(Strike.total) |"))
        #expect(text.contains("Of \(Strike.total) strikes on average"))
    }

    @Test func theTableSaysHowOftenWhatHappensToFleets() throws {
        let text = try text(of: Self.fleets)
        let rows = text.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: #/\| `(\w+)` \| ([0-9]+) \| ([0-9]+) \| ([0-9]+) \| .+ \|/#)
                .map { "\($0.1) \($0.2) \($0.3) \($0.4)" }
        }
        #expect(
            rows
                == FleetFault.allCases.map { fault in
                    "\(fault) " + FleetKind.allCases.map { "\(fault.weight(in: $0))" }.joined(separator: " ")
                })
        let totals = FleetKind.allCases.map(FleetFault.total)
        #expect(
            text.contains(
                "| of \(totals[0]) around files | of \(totals[1]) around a store | of \(totals[2]) with rollouts |"))
    }

    /// The rows of the table of strikes: each kind, and how often it strikes.
    private func rows(_ text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: #/\| `(\w+)` \| ([0-9]+) \| .+ \|/#).map { "\($0.1) \($0.2)" }
        }
    }
}
