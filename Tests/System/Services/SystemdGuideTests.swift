import Foundation
import TestSupport
import Testing

/// What docs/systemd.md says works as it says, in its order.
@Suite(.waits, .needs(.root, .release)) struct SystemdGuideTests {
    private static let guide = repository + "/docs/systemd.md"

    @Test func allOfItWorksInOrderOnOneMachine() throws { try Bed.hold("guide.sh") }

    /// The guide for operators, likewise.
    @Test func whatOperatorsDoWorksInOrderOnOneMachine() throws { try Bed.hold("operations.sh") }

    /// What the service is open to with each drop-in that the guide shows, as the drop-in states.
    @Test func eachDropInStatesItsExposure() throws {
        let text = try String(contentsOfFile: Self.guide, encoding: .utf8)
        let dropIns = text.matches(of: #/clientsecretd\.service\.d/[a-z]+\.conf`:\n\n```ini\n((?:[^`]|`(?!``))*)```/#)
        #expect(dropIns.count >= 2)
        for dropIn in dropIns {
            let content = String(dropIn.output.1)
            let stated = try #require(content.firstMatch(of: /# exposure ([0-9]\.[0-9])/), "\(content)")
            let directory = try TemporaryDirectory()
            try FileManager.default.createDirectory(
                atPath: directory("clientsecretd.service.d"), withIntermediateDirectories: false)
            try FileManager.default.copyItem(
                atPath: repository + "/systemd/clientsecretd.service", toPath: directory("clientsecretd.service"))
            try directory.write(content, to: "clientsecretd.service.d/more.conf")
            #expect(try exposure(of: directory("clientsecretd.service")) == stated.output.1, "\(content)")
        }
    }
}
