import Foundation
import TestSupport
import Testing

/// What the daemon reads is never written to, by whatever path an output leads there.
@Suite(.waits) struct ProtectedPathsTests {
    @Test func anOutputThatLeadsToTheKeyKeepsIt() throws {
        let sandbox = try Sandbox()
        let link = sandbox.directory("way")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: sandbox.directory.path)
        let passphrase = try sandbox.directory.write("open sesame", to: "keys/passphrase")
        func output(_ name: String, _ path: String) -> String {
            "  \(name):\n    client_id: com.example.\(name)\n    key: apple\n    outputs:\n      - path: \(path)\n"
        }
        try sandbox.configure(
            output("key", link + "/keys/AuthKey_ABC123DEFG.p8") + output("settings", link + "/clientsecretd.yaml")
                + output("word", link + "/keys/passphrase") + output("state", link + "/state/clients/good.state")
                + output("good", sandbox.directory("out/good.jwt")) + output("same", link + "/out/good.jwt"))
        let text = try sandbox.directory.read("clientsecretd.yaml").replacingOccurrences(
            of: "state_dir:",
            with: "  locked:\n    team_id: DEF123GHIJ\n    key_id: ABC123DEFH\n    file: \(sandbox.key)\n"
                + "    passphrase_file: \(passphrase)\nstate_dir:")
        try sandbox.directory.write(text, to: "clientsecretd.yaml")
        let key = try sandbox.directory.read("keys/AuthKey_ABC123DEFG.p8")

        let checked = try sandbox.command("check")
        #expect(checked.status == 1, "\(checked.output)")
        for _ in 0..<2 {
            let once = try sandbox.command("run", "--once")
            #expect(once.status == 1, "\(once.complaints)")
            #expect(once.complaints.contains("so it is never written"), "\(once.complaints)")
            #expect(once.complaints.contains("same: \(link)/out/good.jwt: it is the same file"), "\(once.complaints)")
            // Of two clients in one file the one that names the file itself is served, whichever is written first.
            let claims = try sandbox.judge(try sandbox.published("good"))["claims"] as? [String: Any]
            #expect(claims?["sub"] as? String == "com.example.good")
        }
        #expect(try sandbox.directory.read("keys/AuthKey_ABC123DEFG.p8") == key)
        #expect(try sandbox.directory.read("clientsecretd.yaml") == text)
        #expect(try sandbox.directory.read("keys/passphrase") == "open sesame")
        #expect(try sandbox.directory.read("state/clients/good.state").hasPrefix("clientsecretd-state "))
    }
}
