import Foundation
import TestSupport
import Testing

/// The role `verify` as a service.
@Suite struct VerifyServiceTests {
    private let units = repository + "/systemd/"

    /// What it is open to, by systemd's own reckoning, is what its comment says.
    @Test func itStatesItsExposure() throws {
        let unit = units + "clientsecretd-verify@.service"
        let stated = try #require(
            try String(contentsOfFile: unit, encoding: .utf8).firstMatch(of: /exposure ([0-9]\.[0-9])/))
        let analysed = try run(["systemd-analyze", "security", "--offline=yes", "--no-pager", unit])
        let line = try #require(
            analysed.output.split(separator: "\n").last { $0.contains("Overall exposure level") },
            "\(analysed.complaints)")
        #expect(line.contains(": \(stated.output.1) "), "\(line)")
        // What the network costs, which it is for, and ProtectClock=, which makes the clock readable.
        let open = analysed.output.split(separator: "\n").filter { $0.hasPrefix("✗") }
            .compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
        #expect(
            open.sorted() == [
                "DeviceAllow=", "IPAddressDeny=", "PrivateNetwork=", "RestrictAddressFamilies=~AF_(INET|INET6)",
            ])
    }

    /// On a real systemd.
    @Test(.needsRoot("boots a systemd")) func itAsksForTheDaemon() throws {
        let directory = URL(fileURLWithPath: try Operator.program("clientsecretd-network")).deletingLastPathComponent()
        let finished = try run([
            repository + "/Tests/System/bed/run.sh", "-t", "600", "-b", repository + ":/src", "-b",
            directory.path + ":/built", repository + "/Tests/Network/bed/verify.sh",
        ])
        for line in finished.output.split(separator: "\n") where line.hasPrefix("broken: ") { Issue.record("\(line)") }
        #expect(
            finished.status == 0 && finished.output.hasSuffix("finished\n"), "\(finished.output)\(finished.complaints)")
    }
}
