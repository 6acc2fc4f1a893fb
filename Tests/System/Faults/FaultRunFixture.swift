import Foundation
import TestSupport
import Testing

/// A sandbox that is put back into one and the same condition before each run.
final class FaultRunFixture {
    private let sandbox: Sandbox
    private let supervisor: Supervisor
    private let hasOldSecrets: Bool
    /// What was found in outputs after a fault, and after the run that fixed it.
    private var afterFault: Set<String> = []
    private var afterFix: Set<String> = []
    private var old: String?

    private static let lines = ["# settings", "PORT=80", "SECRET=", "HOST=localhost"]

    init(hasOldSecrets: Bool) throws {
        self.hasOldSecrets = hasOldSecrets
        sandbox = try Sandbox()
        supervisor = try Supervisor(sandbox)
        try sandbox.configure(
            sandbox.client("web", at: sandbox.directory("out/app.env"), variable: "SECRET")
                + "      - {path: \(sandbox.directory("out/web.jwt")), mode: \"0640\", group: nogroup}\n")
        try sandbox.directory.write(Self.lines.joined(separator: "\n"), to: "out/app.env")
        if hasOldSecrets {
            try fix("the run before")
            old = try token()
        }
        for name in ["out", "state"] {
            try FileManager.default.copyItem(
                atPath: sandbox.directory(name), toPath: sandbox.directory("before-" + name))
        }
        try FileManager.default.moveItem(atPath: sandbox.key, toPath: sandbox.directory("old-key"))
        try sandbox.makeKey()
    }

    /// A call that concerns the state directory, the key or an output, or the way there.
    struct Call: Hashable {
        let name: String
        let path: String
        /// How often each run makes it, and how often some do: workers that come to a directory at one time sync it
        /// once, others twice.
        var least: Int
        var most: Int
    }

    /// The calls of some runs that nothing disturbs.
    func calls() throws -> [Call] {
        let runs = try (0..<4).map { _ in try undisturbedRun() }
        let points = Set(runs.flatMap(\.keys)).sorted { ($0.path, $0.call) < ($1.path, $1.call) }
        return points.map { point in
            let counts = runs.map { $0[point] ?? 0 }
            return Call(name: point.call, path: point.path, least: counts.min() ?? 0, most: counts.max() ?? 0)
        }
    }

    /// How often each call is made, under the point of its first time.
    private func undisturbedRun() throws -> [FaultPoint: Int] {
        try restore()
        try supervisor.start("--once")
        try #require(try supervisor.wait() == 0)
        return try supervisor.calls().made.filter { !$0.key.path.hasPrefix(sandbox.directory("clientsecretd.")) }
    }

    /// One run with the fault, and one after it without.
    ///
    /// - Returns: whether the run came to the point.
    func attempt(_ rule: Supervisor.Rule, comment: Comment) throws -> Bool {
        try restore()
        try sandbox.directory.write("", to: "log")
        try supervisor.start("--once", rules: [rule])
        let status = try supervisor.wait()
        let isHit = try supervisor.calls().hit == [true]
        let raw = sandbox.directory("out/web.jwt")
        if FileManager.default.fileExists(atPath: raw) {
            afterFault.insert(try sandbox.text(raw))
        } else {
            #expect(!hasOldSecrets, comment)
        }
        let value = try variable(comment)
        if value.isEmpty { #expect(!hasOldSecrets, comment) } else { afterFault.insert(value) }
        if status == 0 {
            #expect(try token() == value, comment)
            #expect(value != old, comment)
        }
        if isHit { try expectWords(about: rule, status: status, comment) }
        try fix(comment)
        let token = try token()
        #expect(try variable(comment) == token, comment)
        #expect(token != old, comment)
        // What a run called done is not done again.
        if status == 0 { #expect(token == value, comment) }
        afterFix.insert(token)
        try sandbox.expectNoLeftovers(comment)
        return isHit
    }

    /// A fault that keeps something from being done is an exit code and a line that says what the kernel said. Others are of no
    /// consequence, such as one while a replaced file is removed.
    private func expectWords(about rule: Supervisor.Rule, status: Int32, _ comment: Comment) throws {
        if rule.fault == .kill {
            #expect(status == -SIGKILL, comment)
        } else if status != 0 {
            #expect(status == 1, comment)
            let mayBeOther = rule.point.call.hasPrefix("open") || rule.point.call == "unlinkat"
            #expect(try mayBeOther || sandbox.log().contains(rule.fault.words), "\(comment): \(sandbox.lastWords)")
        }
    }

    /// Every output held a secret that one of the two keys signed, and after fixing one of the new key's.
    func verifySignatures(comment: Comment) throws {
        let keys = [sandbox.key, sandbox.directory("old-key")]
        _ = try sandbox.signers(of: Array(afterFault), among: keys)
        let signers = try sandbox.signers(of: Array(afterFix), among: keys)
        #expect(signers.allSatisfy { $0 == 0 }, comment)
        #expect(afterFix.count > 50, comment)
    }

    private func fix(_ comment: Comment) throws {
        try supervisor.start("--once")
        let status = try supervisor.wait()
        #expect(status == 0, "\(comment): \(sandbox.lastWords)")
    }

    private func token() throws -> String { try sandbox.published() }

    /// The variable's value in the environment file, whose other lines are as they ever were.
    private func variable(_ comment: Comment) throws -> String {
        let lines = try sandbox.directory.read("out/app.env").components(separatedBy: "\n")
        try #require(lines.count == 4, comment)
        #expect(lines[0...1] + lines[3...] == Self.lines[0...1] + Self.lines[3...], comment)
        try #require(lines[2].hasPrefix(Self.lines[2]), comment)
        return String(lines[2].dropFirst(Self.lines[2].count))
    }

    private func restore() throws {
        for name in ["out", "state"] {
            try FileManager.default.removeItem(atPath: sandbox.directory(name))
            try FileManager.default.copyItem(
                atPath: sandbox.directory("before-" + name), toPath: sandbox.directory(name))
        }
    }
}
