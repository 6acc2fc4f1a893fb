import Foundation
import TestSupport
import Testing

/// A call of the daemon's: the how-manieth of its name in a thread. That is how strace counts.
struct FaultPoint: Hashable, Comparable {
    let call: String
    let ordinal: Int

    static func < (left: FaultPoint, right: FaultPoint) -> Bool {
        (left.call, left.ordinal) < (right.call, right.ordinal)
    }
}

/// A sandbox that is put back into one and the same condition before each run.
final class FaultBench {
    private let sandbox: Sandbox
    private let hasOldSecrets: Bool
    /// What was found in outputs after a fault, and after the run that mended it.
    private var afterFault: Set<String> = []
    private var afterMending: Set<String> = []
    private var old: String?

    private static let calls = [
        "openat", "openat2", "write", "fsync", "fchmod", "fchown", "rename", "renameat", "renameat2", "unlinkat",
    ]
    private static let lines = ["# settings", "PORT=80", "SECRET=", "HOST=localhost"]

    init(hasOldSecrets: Bool) throws {
        self.hasOldSecrets = hasOldSecrets
        sandbox = try Sandbox()
        try sandbox.configure(
            """
              web:
                client_id: com.example.web
                outputs:
                  - path: \(sandbox.directory("out/web.jwt"))
                    mode: "0640"
                    group: nogroup
                  - path: \(sandbox.directory("out/app.env"))
                    format: env
                    variable: SECRET
            """)
        try sandbox.directory.write(Self.lines.joined(separator: "\n"), to: "out/app.env")
        if hasOldSecrets {
            try runClean("the run before")
            old = try token()
        }
        for name in ["out", "state"] {
            try FileManager.default.copyItem(
                atPath: sandbox.directory(name), toPath: sandbox.directory("before-" + name))
        }
        try FileManager.default.moveItem(atPath: sandbox.key, toPath: sandbox.directory("old-key"))
        try sandbox.makeKey()
    }

    /// Every call that concerns the state directory, the key or an output.
    func points() throws -> [FaultPoint] {
        try restore()
        #expect(try traced([]).status == 0)
        var counts: [Substring: [String: Int]] = [:]
        var found: Set<FaultPoint> = []
        for line in try sandbox.directory.read("trace").split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            // "<... fsync resumed>" tells of the end of a call that was counted when it began.
            guard parts.count == 2 else { continue }
            let name = String(parts[1].trimmingCharacters(in: .whitespaces).prefix { $0 != "(" })
            guard Self.calls.contains(name) else { continue }
            counts[parts[0], default: [:]][name, default: 0] += 1
            let isOurs = parts[1].contains(sandbox.directory.path) && !parts[1].contains("clientsecretd.yaml")
            if isOurs { found.insert(FaultPoint(call: name, ordinal: counts[parts[0]]?[name] ?? 0)) }
        }
        return found.sorted()
    }

    /// One run with the fault, and one after it without.
    ///
    /// - Returns: whether the run came to the point.
    func attempt(_ point: FaultPoint, _ fault: String, comment: String) throws -> Bool {
        try restore()
        // A write that is refused may be the one by which threads wake each other, which no kernel refuses: that ends as
        // a kill.
        let mayHang = point.call == "write"
        let faulty = try traced(
            ["-e", "inject=\(point.call):\(fault):when=\(point.ordinal)"], seconds: mayHang ? 3 : 60)
        if faulty.status == 124 { try killTraced() }
        #expect(faulty.status != 124 || mayHang, "it hung: \(comment)")
        let raw = sandbox.directory("out/web.jwt")
        if FileManager.default.fileExists(atPath: raw) {
            afterFault.insert(try sandbox.text(raw))
        } else {
            #expect(!hasOldSecrets, "\(comment)")
        }
        let value = try variable(comment)
        if value.isEmpty { #expect(!hasOldSecrets, "\(comment)") } else { afterFault.insert(value) }
        if faulty.status == 0 {
            #expect(try token() == value, "\(comment)")
            #expect(value != old, "\(comment)")
        }
        try runClean(comment)
        let token = try token()
        #expect(try variable(comment) == token, "\(comment)")
        #expect(token != old, "\(comment)")
        afterMending.insert(token)
        #expect(sandbox.leftovers() == [], "\(comment)")
        let trace = try sandbox.directory.read("trace")
        return trace.contains("(INJECTED)") || trace.contains("+++ killed by SIGKILL")
    }

    /// Every output held a secret that one of the two keys signed, and after mending one of the new key's.
    func verifySignatures(comment: String) throws {
        let keys = [sandbox.key, sandbox.directory("old-key")]
        _ = try sandbox.signers(of: Array(afterFault), among: keys)
        let signers = try sandbox.signers(of: Array(afterMending), among: keys)
        #expect(signers.allSatisfy { $0 == 0 }, "\(comment)")
        #expect(afterMending.count > 50, "\(comment)")
    }

    private func traced(_ options: [String], seconds: Int = 60) throws -> Finished {
        let calls = "trace=" + Self.calls.joined(separator: ",")
        return try run(
            ["timeout", "\(seconds)", "strace", "-f", "-y", "-o", sandbox.directory("trace"), "-e", calls] + options + [
                sandbox.binary, "run", "--once", "--config", sandbox.directory("clientsecretd.yaml"), "--socket",
                sandbox.socket,
            ])
    }

    /// Ends what a strace that was ended has left behind.
    private func killTraced() throws {
        let first = try sandbox.directory.read("trace").prefix { $0 != " " }
        let process = try #require(Int32(first))
        kill(process, SIGKILL)
        try sandbox.eventually("the end of the daemon") { kill(process, 0) != 0 }
    }

    private func runClean(_ comment: String) throws {
        let clean = try sandbox.command("run", "--once")
        #expect(clean.status == 0, "\(comment): \(clean.complaints)")
    }

    private func token() throws -> String { try sandbox.directory.read("out/web.jwt") }

    /// The variable's value in the environment file, whose other lines are as they ever were.
    private func variable(_ comment: String) throws -> String {
        let lines = try sandbox.directory.read("out/app.env").components(separatedBy: "\n")
        try #require(lines.count == 4, "\(comment)")
        #expect(lines[0...1] + lines[3...] == Self.lines[0...1] + Self.lines[3...], "\(comment)")
        try #require(lines[2].hasPrefix(Self.lines[2]), "\(comment)")
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
