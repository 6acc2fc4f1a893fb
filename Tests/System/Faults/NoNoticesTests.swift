import Foundation
import TestSupport
import Testing

/// Other programs of the user hold all inotify instances.
@Suite(.waits, .needs(.root, .tools)) struct NoNoticesTests {
    @Test func theDaemonServesWithoutNoticesAndTakesThemWhenItCan() throws {
        let sandbox = try Sandbox(clients: "web")
        defer { sandbox.stop(SIGKILL) }
        // The limit of a user namespace concerns no other program.
        let limit = "/proc/sys/user/max_inotify_instances"
        try sandbox.start(
            under: ["unshare", "--user", "--map-root-user", "sh", "-c", "echo 0 >\(limit); exec \"$@\"", "sh"])
        let secret = try sandbox.published()
        try sandbox.claims(of: secret)
        #expect(try sandbox.status()["state"] as? String == "degraded")
        let reason = String(describing: try sandbox.status()["reason"] ?? "")
        #expect(reason.contains("once a minute"), "\(reason)")

        try sandbox.directory.write("damaged", to: "out/web.jwt")
        try sandbox.eventually("the repair by the check of each minute") { try sandbox.published() == secret }
        let process = try #require(sandbox.processID)
        try runToSuccess(["nsenter", "--user", "--target", "\(process)", "sh", "-c", "echo 100 >\(limit)"])
        try sandbox.eventually("notices") { try sandbox.status()["state"] as? String == "ok" }
        // By the check of each minute it would take longer.
        try sandbox.directory.write("damaged", to: "out/web.jwt")
        try sandbox.soon("the repair") { try sandbox.published() == secret }
    }
}
