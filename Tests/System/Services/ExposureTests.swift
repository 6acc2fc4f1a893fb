import Foundation
import TestSupport
import Testing

/// What each service is open to, by systemd's own reckoning: what the comment in its unit says, and no more than is promised.
@Suite(.waits, .needs(.tools)) struct ExposureTests {
    /// Requires of a unit, or of one with a drop-in, that what is said there of its exposure is right.
    private func expectAsStated(_ unit: String, by text: String, atMost limit: Double) throws {
        let stated = try #require(text.firstMatch(of: /exposure ([0-9]\.[0-9])/), "\(unit) states no exposure").output.1
        let analysis = try run(["systemd-analyze", "security", "--offline=yes", "--no-pager", unit]).output
        let sum = try #require(
            analysis.split(separator: "\n").last { $0.contains("Overall exposure level") }, "\(analysis)")
        #expect(sum.contains(": \(stated) "), "\(sum)")
        #expect(try #require(Double(stated)) <= limit)
    }

    @Test(arguments: [
        ("clientsecretd", 0.5), ("clientsecretd-once", 0.5), ("clientsecretd-verify@", 1.5),
        ("clientsecretd-push@", 1.5), ("clientsecretd-store", 1.5),
    ])
    func isWhatTheUnitStates(name: String, limit: Double) throws {
        let unit = repository + "/systemd/\(name).service"
        try expectAsStated(unit, by: String(contentsOfFile: unit, encoding: .utf8), atMost: limit)
    }

    /// With each drop-in that the pages show.
    @Test func isWhatTheGuidesDropInsState() throws {
        let docs = repository + "/docs/"
        let text = try FileManager.default.contentsOfDirectory(atPath: docs).filter { $0.hasSuffix(".md") }
            .map { try String(contentsOfFile: docs + $0, encoding: .utf8) }.joined()
        let dropIns = text.matches(of: #/clientsecretd\.service\.d/[a-z]+\.conf`:\n\n```ini\n((?:[^`]|`(?!``))*)```/#)
        #expect(!dropIns.isEmpty)
        for dropIn in dropIns.map({ String($0.output.1) }) {
            let directory = try TemporaryDirectory()
            let unit = directory("clientsecretd.service")
            try FileManager.default.createDirectory(atPath: unit + ".d", withIntermediateDirectories: false)
            try FileManager.default.copyItem(atPath: repository + "/systemd/clientsecretd.service", toPath: unit)
            try directory.write(dropIn, to: "clientsecretd.service.d/more.conf")
            try expectAsStated(unit, by: dropIn, atMost: 10)
        }
    }
}
