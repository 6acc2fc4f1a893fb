import Foundation
import TestSupport
import Testing

/// People and pagers, told by a running daemon. Takes half a minute and a bit: what has not lasted is not told.
@Suite(.waits) struct OnStateChangeTests {
    @Test func aChangeThatLastsIsReportedOnceAlsoOverARestart() throws {
        let sandbox = try Sandbox()
        let hook = try sandbox.directory.write(
            """
            #!/bin/sh
            env > \(sandbox.directory("environment"))
            echo "$@" >> \(sandbox.directory("paged"))

            """, to: "pager", mode: 0o755)
        let client = sandbox.client("web", at: sandbox.directory("gone/web.jwt"))
        try sandbox.configure(client, others: "on_state_change:\n  - exec: [\(hook), \"%s\", is-the-state]")
        #expect(try sandbox.command("check").complaints.contains("on_state_change") == false)
        try sandbox.start()
        func paged() -> String { (try? sandbox.directory.read("paged")) ?? "" }
        try sandbox.eventually("the page") { paged() != "" }
        #expect(paged() == "critical is-the-state\n")
        #expect(try !sandbox.directory.read("environment").contains("CLIENTSECRETD_"))
        try sandbox.eventually("keeping that it was told") {
            (try? sandbox.directory.read("state/reported-states.state"))?.contains(#""owed":[]"#) == true
        }
        #expect(try sandbox.log().contains("done, because the state changed: exec \(hook) critical is-the-state"))
        sandbox.stop(SIGKILL)
        // What was told is not told again; what has changed since is.
        try sandbox.makeDirectory("gone")
        try sandbox.start()
        try sandbox.eventually("the all-clear") { paged().contains("ok") }
        #expect(paged() == "critical is-the-state\nok is-the-state\n")
    }
}
