import Foundation
import TestSupport
import Testing

/// What each service is open to, by systemd's own reckoning: what the comment in its unit says, and no more than is promised.
@Suite(.waits, .needs(.tools)) struct ExposureTests {
    /// The lines of `systemd-analyze security`, of which the last one is the sum.
    private func lines(_ unit: String) throws -> [Substring] {
        try run(["systemd-analyze", "security", "--offline=yes", "--no-pager", unit]).output.split(separator: "\n")
    }

    /// Requires of a unit, or of one with a drop-in, that what is said there of its exposure is right.
    private func expectAsStated(_ unit: String, by text: String, atMost limit: Double) throws {
        let stated = try #require(text.firstMatch(of: /exposure ([0-9]\.[0-9])/), "\(unit) states no exposure").output.1
        let lines = try lines(unit)
        let sum = try #require(lines.last { $0.contains("Overall exposure level") }, "\(lines)")
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

    /// What the network costs, which it is for, and ProtectClock=, which makes the clock readable.
    @Test func whatAsksAppleIsOpenToTheNetworkAlone() throws {
        let open = try lines(repository + "/systemd/clientsecretd-verify@.service").filter { $0.hasPrefix("✗") }
            .compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
        #expect(
            open.sorted() == [
                "DeviceAllow=", "IPAddressDeny=", "PrivateNetwork=", "RestrictAddressFamilies=~AF_(INET|INET6)",
            ])
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
