import Foundation
import TestSupport
import Testing

/// Writers that a real systemd starts for a daemon that runs as its own user, behind the sandbox of its unit.
@Suite struct WriterBedTests {
    @Test(.enabled(if: isRoot, "boots a systemd as root"))
    func filesOfOtherUsersAreWrittenByTheirWriters() throws {
        let directory = try TemporaryDirectory()
        let binary =
            ProcessInfo.processInfo.environment["CLIENTSECRETD_BINARY"]
            ?? repository + "/.build/release/clientsecretd"
        for (from, to) in [
            (binary, "clientsecretd"), (repository + "/systemd", "systemd"),
            (repository + "/Tests/Writers/ask.py", "ask.py"),
        ] {
            try FileManager.default.copyItem(
                at: URL(fileURLWithPath: from).resolvingSymlinksInPath(), to: URL(fileURLWithPath: directory(to)))
        }
        _ = unsafe chmod(directory.path, 0o755)
        let bed = repository + "/Tests/System/bed/"
        let seen = try run([
            bed + "run.sh", "-t", "120", "-b", "\(directory.path):/srv/share", bed + "writers.sh", "/srv/share",
        ])
        #expect(seen.status == 0, "\(seen.complaints)")
        #expect(seen.output == Self.expected, "\(seen.complaints)")
    }

    private static let expected = #"""
        """#
}
