import Foundation
import TestSupport
import Testing

/// What `make run` runs.
@Suite(.waits, .needs(.tools)) struct DemonstrationTests {
    @Test func aRenewalIsAnnouncedAndNothingIsLeftRunning() throws {
        let sandbox = try Sandbox()
        // Too long for a socket's address, so that the socket is elsewhere.
        let demo = sandbox.directory(String(repeating: "demonstration-", count: 8))
        let temporary = sandbox.directory("temporary")
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
        let console = try Console(
            columns: 200, rows: 30,
            """
            # The terminal interrupts this shell as well, which is to say how the demonstration ended.
            trap : INT
            \(repository)/scripts/demo \(sandbox.binary) \(demo)
            echo "ended with $?"
            exec sleep 600
            """, environment: ["TMPDIR": temporary])
        // On a busy machine not all are renewed in one second, of which the first line names those of the last one.
        try console.wait(for: "a renewal of all three clients") { screen in
            screen.contains { $0.contains(/^Renewed .*: [a-z]/) }
                && screen.contains { $0.contains(/^web +ok .* [1-9] +2 of 2 ok/) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).count == 1)
        try console.press("C-c")
        try console.wait(for: "ended with 0")
        #expect(try running(demo) == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
    }
}
