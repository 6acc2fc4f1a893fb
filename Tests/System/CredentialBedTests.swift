import Foundation
import TestSupport
import Testing

/// Units of a real systemd load their secrets from the daemon.
@Suite struct CredentialBedTests {
    @Test(.needsRoot("boots a systemd"))
    func unitsGetTheirSecretOrDoNotStart() throws {
        let directory = try TemporaryDirectory()
        let binary =
            ProcessInfo.processInfo.environment["CLIENTSECRETD_BINARY"]
            ?? repository + "/.build/release/clientsecretd"
        for (from, to) in [(binary, "clientsecretd"), (repository + "/systemd", "systemd")] {
            try FileManager.default.copyItem(
                at: URL(fileURLWithPath: from).resolvingSymlinksInPath(), to: URL(fileURLWithPath: directory(to)))
        }
        let bed = repository + "/Tests/System/bed/"
        let seen = try run([
            bed + "run.sh", "-t", "120", "-b", "\(directory.path):/srv/share", bed + "credentials.sh", "/srv/share",
        ])
        #expect(seen.status == 0, "\(seen.complaints)")
        let lines = seen.output.split(separator: "\n").map(String.init)
        #expect(lines == Self.expected, "\(seen.complaints)")
    }

    private static let expected = #"""
        the socket alone: active inactive
        a start before the first secret: activating
        then: web
        the published secret: same
        for each command: twice
        app@one.service: all
        app@an\x2dinstance.service: one
        app@x\x2dy.service: all
        other.service: no start, 243
        named.service: no start, 243
        by an alias: web
        after a renewal: same
        the daemon stopped: web
        a user's unit:  243
        a user's unit:  243
        stopped meanwhile: no start, 243
        killed meanwhile: activating
        then: late
        no configuration: no start, 243
        the socket: active
        mended: web
        served: 11
        refused a credential to the user 5, for only root's systemd is served; let a unit of the system's manager load it
        refused late.service the credential "secret", for there is no secret yet and the daemon stops; start the unit again
        refused named.service the credential "another", for no client has it; write "credential: {unit: named.service, name: another}" under its client
        refused other.service the credential "secret", for no client has it; write "credential: {unit: other.service, name: secret}" under its client
        """#.split(separator: "\n").map(String.init)
}
