import Foundation
import TestSupport
import Testing

/// What the daemon reads is never written to, by whatever path an output leads there.
@Suite(.waits) struct ProtectedPathsTests {
    @Test func anOutputThatLeadsToTheKeyKeepsIt() throws {
        let sandbox = try Sandbox()
        let link = try sandbox.directory.link("way", to: sandbox.directory.path)
        let passphrase = try sandbox.directory.write("open sesame", to: "keys/passphrase")
        func output(_ name: String, _ path: String) -> String { sandbox.client(name, at: path) + "    key: apple\n" }
        let locked =
            "locked: {team_id: DEF123GHIJ, key_id: ABC123DEFH, file: \(sandbox.key), passphrase_file: \(passphrase)}"
        try sandbox.configure(
            output("key", link + "/keys/AuthKey_ABC123DEFG.p8") + output("settings", link + "/clientsecretd.yaml")
                + output("word", link + "/keys/passphrase") + output("state", link + "/state/clients/good.state")
                + output("good", sandbox.directory("out/good.jwt")) + output("same", link + "/out/good.jwt"),
            key: locked)
        let text = try sandbox.directory.read("clientsecretd.yaml")
        let key = try sandbox.directory.read("keys/AuthKey_ABC123DEFG.p8")

        let checked = try sandbox.command("check")
        #expect(checked.status == 1, "\(checked.output)")
        for _ in 0..<2 {
            let once = try sandbox.command("run", "--once")
            #expect(once.status == 1, "\(once.complaints)")
            #expect(once.complaints.contains("so it is never written"), "\(once.complaints)")
            #expect(once.complaints.contains("same: \(link)/out/good.jwt: it is the same file"), "\(once.complaints)")
            // Of two clients in one file the one that names the file itself is served, whichever is written first.
            #expect(try sandbox.claims(of: sandbox.published("good"))["sub"] as? String == "com.example.good")
        }
        #expect(try sandbox.directory.read("keys/AuthKey_ABC123DEFG.p8") == key)
        #expect(try sandbox.directory.read("clientsecretd.yaml") == text)
        #expect(try sandbox.directory.read("keys/passphrase") == "open sesame")
        #expect(try sandbox.directory.read("state/clients/good.state").hasPrefix("clientsecretd-state "))
    }
}
