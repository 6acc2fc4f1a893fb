import Foundation
import TestSupport
import Testing

/// A configuration that was named from the directory in which the daemon was started.
@Suite(.waits) struct ConfigurationPathTests {
    /// What becomes the daemon, started in the sandbox's directory.
    private func wrapper(_ sandbox: Sandbox, _ path: String) -> [String] {
        // $0 is the binary, $5 the socket of what follows: run --config FILE --socket PATH.
        ["sh", "-c", "cd \(sandbox.directory.path) && exec \"$0\" run --config \(path) --socket \"$5\""]
    }

    @Test func isShownFromTheRootWhereverItIsShown() throws {
        let sandbox = try Sandbox(clients: "web")
        let path = sandbox.configuration
        try sandbox.start(under: wrapper(sandbox, "./clientsecretd.yaml"))
        func shown() throws -> String? {
            try #require(try sandbox.status()["config"] as? [String: Any])["path"] as? String
        }
        #expect(try shown() == path)
        // Read again from there, and its mistakes named there.
        try sandbox.configure(sandbox.client("web", more: "    lifetimes: 90d"))
        let refused = try sandbox.command("reload")
        #expect(refused.status == 78)
        #expect(refused.complaints.hasPrefix(path + ":"), "\(refused.complaints)")
        #expect(try shown() == path)
        let table = try sandbox.command("status").output
        #expect(table.contains("\(path): the configuration would not start: \(path):"), "\(table)")
        try sandbox.configure(sandbox.client("web") + sandbox.client("app"))
        try sandbox.succeed("reload")
        #expect(try (sandbox.status()["clients"] as? [Any])?.count == 2)
    }

    @Test func isNamedFromTheRootWhereTheDaemonDoesNotStart() throws {
        let sandbox = try Sandbox()
        for (path, complaint) in [
            ("none.yaml", sandbox.directory("none.yaml") + ":1:1: error: there is no such file"),
            // What is no path of a file stays as it was written.
            ("etc/../none.yaml", "etc/../none.yaml:1:1: error: "),
        ] {
            let finished = try run(wrapper(sandbox, path) + [sandbox.binary, "", "", "", "", sandbox.socket])
            #expect(finished.status == 78)
            #expect(finished.complaints.contains(complaint), "\(finished.complaints)")
        }
    }
}
