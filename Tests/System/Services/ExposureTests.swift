import Foundation
import TestSupport
import Testing

/// What each service is open to, by systemd's own reckoning: what the comment in its unit says, and no more than is promised.
@Suite(.waits, .needs(.tools)) struct ExposureTests {
    private func exposure(of unit: String) throws -> Double {
        let analysis = try run(["systemd-analyze", "security", "--offline=yes", "--no-pager", unit]).output
        let sum = try #require(analysis.firstMatch(of: #/Overall exposure level.*: ([0-9.]+) /#), "\(analysis)")
        return try #require(Double(sum.output.1))
    }

    @Test(arguments: [
        ("clientsecretd", 0.5), ("clientsecretd-once", 0.5), ("clientsecretd-verify@", 1.5),
        ("clientsecretd-push@", 1.5), ("clientsecretd-store", 1.5),
    ])
    func isWhatTheUnitStates(name: String, limit: Double) throws {
        let unit = repository + "/systemd/\(name).service"
        let text = try String(contentsOfFile: unit, encoding: .utf8)
        let stated = try #require(text.firstMatch(of: /exposure ([0-9]\.[0-9])/)).output.1
        let found = try exposure(of: unit)
        #expect(Double(stated) == found && found <= limit)
    }

    @Test func theDropInsThatThePagesShowLeaveItAsItIs() throws {
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
            #expect(try exposure(of: unit) <= 0.5, "\(dropIn)")
        }
    }
}
