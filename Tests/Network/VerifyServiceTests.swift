import Foundation
import TestSupport
import Testing

/// The role `verify` as a service.
@Suite(.needs(.root, .release, .venv)) struct VerifyServiceTests {
    /// What it is open to, by systemd's own reckoning, is what its comment says.
    @Test func itStatesItsExposure() throws {
        let exposure = try UnitExposure(of: "clientsecretd-verify@.service")
        try exposure.check(atMost: 1.5)
        // What the network costs, which it is for, and ProtectClock=, which makes the clock readable.
        let open = exposure.lines.filter { $0.hasPrefix("✗") }
            .compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
        #expect(
            open.sorted() == [
                "DeviceAllow=", "IPAddressDeny=", "PrivateNetwork=", "RestrictAddressFamilies=~AF_(INET|INET6)",
            ])
    }

    /// On a real systemd.
    @Test(.needs(.root)) func itAsksForTheDaemon() throws {
        let finished = try run([
            repository + "/Tests/System/bed/run.sh", "-t", "600", "-b", repository + ":/src", "-b",
            Binaries.folder + ":/built", repository + "/Tests/Network/bed/verify.sh",
        ])
        for line in finished.output.split(separator: "\n") where line.hasPrefix("broken: ") { Issue.record("\(line)") }
        #expect(
            finished.status == 0 && finished.output.hasSuffix("finished\n"), "\(finished.output)\(finished.complaints)")
    }
}
