import Foundation
import Synchronization
import TestSupport
import Testing

/// Kills at random moments while readers read: nobody ever sees anything but a whole secret, nothing stays behind.
@Suite struct KillStormTests {
    @Test func killedAtAnyMomentLeavesWholeSecrets() throws {
        let sandbox = try Sandbox()
        var random = SeededGenerator()
        let seed = random.seed
        let environment = "# settings of the application\nPORT=80\nAPPLE_CLIENT_SECRET=\nHOST=localhost\n"
        try sandbox.directory.write(environment, to: "out/app.env")
        try sandbox.configure(
            """
              web:
                client_id: com.example.web
                outputs:
                  - path: \(sandbox.directory("out/web.jwt"))
                  - path: \(sandbox.directory("out/app.env"))
                    format: env
                    variable: APPLE_CLIENT_SECRET
                  - path: \(sandbox.directory("out/web.json"))
                    format: json

            """ + sandbox.client("native"))
        // Another key at each start has everything minted and written anew.
        try sandbox.makeKey(at: sandbox.directory("keys/one"))
        try sandbox.makeKey(at: sandbox.directory("keys/two"))
        let readers = Readers(sandbox)
        readers.begin()
        var isRunning = 0
        for round in 0..<120 {
            try FileManager.default.removeItem(atPath: sandbox.key)
            try FileManager.default.copyItem(
                atPath: sandbox.directory(round % 2 == 0 ? "keys/one" : "keys/two"), toPath: sandbox.key)
            try sandbox.start(waiting: false)
            usleep(UInt32(random.next() % 60_000))
            if let process = sandbox.processID, kill(process, 0) == 0 { isRunning += 1 }
            sandbox.stop(SIGKILL)
        }
        #expect(isRunning >= 100, "seed \(seed)")
        try sandbox.start()
        readers.end()
        let seen = readers.findings()
        #expect(seen.bad == [], "seed \(seed)")
        #expect(seen.reads > 1000)
        #expect(seen.tokens.count > 20, "the storm published too little: \(seen.tokens.count), seed \(seed)")
        #expect(sandbox.leftovers() == [], "seed \(seed)")
        try verify(seen.tokens, sandbox)
        #expect(try sandbox.status()["state"] as? String == "ok")
        #expect(sandbox.stop() == 0)
    }

    /// Each token that a reader saw was signed by one of the two keys.
    private func verify(_ tokens: Set<String>, _ sandbox: Sandbox) throws {
        let script = """
            import sys, jwt
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
            keys = [load_pem_private_key(open(path, 'rb').read(), None).public_key() for path in sys.argv[1:]]
            def good(token):
                for key in keys:
                    try:
                        return jwt.decode(token, key, algorithms=['ES256'], audience='https://appleid.apple.com')
                    except jwt.InvalidSignatureError:
                        pass
            for token in sys.stdin.read().split():
                assert good(token), 'signed by neither key'
            """
        let judged = try run(
            [python, "-c", script, sandbox.directory("keys/one"), sandbox.directory("keys/two")],
            input: Data(tokens.joined(separator: "\n").utf8))
        #expect(judged.status == 0, "\(judged.complaints)")
    }
}

/// Applications that read their secrets over and over.
final class Readers: Sendable {
    struct Findings {
        var reads = 0
        var bad: [String] = []
        var tokens: Set<String> = []
    }

    private let state = Mutex(Findings())
    private let isEnding = Mutex(false)
    private let raw: [String]
    private let environment: String
    private let json: String
    private let done = DispatchGroup()

    init(_ sandbox: Sandbox) {
        raw = [sandbox.directory("out/web.jwt"), sandbox.directory("out/native.jwt")]
        environment = sandbox.directory("out/app.env")
        json = sandbox.directory("out/web.json")
    }

    func begin() {
        let looks: [@Sendable () -> Void] = [lookAtRaw, lookAtEnvironment, lookAtJSON]
        for look in looks {
            done.enter()
            Thread.detachNewThread { [self] in
                while !isEnding.withLock({ $0 }) {
                    look()
                    usleep(300)
                }
                done.leave()
            }
        }
    }

    func end() {
        isEnding.withLock { $0 = true }
        done.wait()
    }

    func findings() -> Findings { state.withLock { $0 } }

    private func lookAtRaw() {
        for path in raw {
            guard let text = text(path) else { continue }
            judge(text, path)
        }
    }

    private func lookAtEnvironment() {
        guard let text = text(environment) else { return }
        let lines = text.components(separatedBy: "\n")
        let others = lines.filter { !$0.hasPrefix("APPLE_CLIENT_SECRET=") }
        guard others == ["# settings of the application", "PORT=80", "HOST=localhost", ""], lines.count == 5 else {
            state.withLock { $0.bad.append("the environment file held \(text.count) bytes that are not whole") }
            return
        }
        let value = lines[2].dropFirst("APPLE_CLIENT_SECRET=".count)
        if !value.isEmpty { judge(String(value), environment) }
    }

    private func lookAtJSON() {
        guard let text = text(json) else { return }
        let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String]
        judge(object?["client_secret"] ?? "", json)
    }

    private func text(_ path: String) -> String? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        state.withLock { $0.reads += 1 }
        return String(decoding: data, as: UTF8.self)
    }

    /// Whole as to its form; the signatures of all that were seen are verified in the end.
    private func judge(_ token: String, _ path: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        let isWhole =
            parts.count == 3 && parts[0].hasPrefix("eyJ") && parts[1].hasPrefix("eyJ") && parts[2].utf8.count == 86
        state.withLock { findings in
            if isWhole {
                findings.tokens.insert(token)
            } else {
                findings.bad.append("\(path) held \(token.utf8.count) bytes that are no secret")
            }
        }
    }
}
