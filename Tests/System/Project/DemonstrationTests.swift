import Foundation
import TestSupport
import Testing

/// What `make run` runs.
@Suite(.waits) struct DemonstrationTests {
    /// A secret of an earlier demonstration lies there that is due in ten seconds, so that its renewal is soon to be seen.
    @Test func aRenewalIsSeenAndNothingIsLeftRunning() throws {
        let sandbox = try Sandbox()
        // Too long for a socket's address, so that the socket lies elsewhere.
        let demo = sandbox.directory(String(repeating: "demonstration-", count: 8))
        try FileManager.default.createDirectory(atPath: demo + "/out", withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: sandbox.key, toPath: demo + "/AuthKey_DEMOKEY123.p8")
        for (path, mode) in [(demo, 0o700), (demo + "/out", 0o700), (demo + "/AuthKey_DEMOKEY123.p8", 0o600)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        // As one that was minted two minutes ago: the next one comes a minute later at the earliest.
        let sign = """
            import sys, time, jwt
            now = int(time.time())
            claims = {"iss": "DEMOTEAM99", "iat": now - 180, "exp": now + 85, "aud": "https://appleid.apple.com",
                      "sub": "com.example.web"}
            print(jwt.encode(claims, open(sys.argv[1]).read(), "ES256", {"kid": "DEMOKEY123"}))
            """
        let first = try run([python, "-c", sign, demo + "/AuthKey_DEMOKEY123.p8"])
        try #require(first.status == 0, "\(first.complaints)")
        let output = demo + "/out/web.jwt"
        try first.output.trimmingCharacters(in: .newlines).write(toFile: output, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: output)

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
        // By its own count, which does not include what it found.
        try console.wait(for: "a renewal of web") { screen in
            screen.contains { $0.contains(/^web +ok .* 1 +2 of 2 ok/) }
        }
        #expect(try String(contentsOfFile: demo + "/daemon.log", encoding: .utf8).contains("web: took over sha256:"))
        let second = try String(contentsOfFile: output, encoding: .utf8)
        #expect(second != first.output.trimmingCharacters(in: .newlines))
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).count == 1)
        try console.press("C-c")
        try console.wait(for: "ended with 0")
        #expect(try running(demo) == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
    }
}
