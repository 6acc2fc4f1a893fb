import Foundation
import TestSupport
import Testing

/// A call that is to fail: the how-manieth of its name on a path.
struct FaultPoint: Hashable {
    let call: String
    let path: String
    let nth: Int
}

/// What the kernel does at a point instead of what it was asked for.
enum Fault: String, CaseIterable {
    case fails = "EIO"
    case isFull = "ENOSPC"
    case isOverQuota = "EDQUOT"
    case isOutOfDescriptors = "EMFILE"
    case isReadOnly = "EROFS"
    /// An end without warning.
    case kill = "SIGKILL"

    /// What people are told of it.
    var words: String {
        switch self {
        case .fails: "the disk or file server fails"
        case .isFull: "the disk is full"
        case .isOverQuota: "the disk quota is used up"
        case .isOutOfDescriptors: "too many files are open"
        case .isReadOnly: "the file system is read-only"
        case .kill: ""
        }
    }
}

/// A daemon whose calls the kernel refuses on demand: `Tests/Support/refuse-calls.py`. It ends with its supervisor.
final class Supervisor {
    private let process: Background
    private let sandbox: Sandbox

    init(_ sandbox: Sandbox) throws {
        self.sandbox = sandbox
        process = try Background(
            ["/usr/bin/python3", repository + "/Tests/Support/refuse-calls.py"], last: "{}", waiting: false)
    }

    /// Starts `run` with further arguments, with these rules for its calls.
    func start(_ arguments: String..., rules: [Rule] = []) throws {
        _ = try ask([
            "start": [
                sandbox.binary, "run", "--config", sandbox.configuration, "--socket", sandbox.socket,
            ] + arguments,
            "below": sandbox.directory.path, "log": sandbox.directory("log"),
            "environment": ["PATH": "/usr/bin:/bin", "STATE_DIRECTORY": sandbox.kept.path],
            "rules": rules.map(\.document),
        ])
    }

    struct Rule {
        let point: FaultPoint
        let fault: Fault
        /// Every later call of that name fails too.
        var lasts = false

        var document: [String: Any] {
            ["call": point.call, "path": point.path, "nth": point.nth, "fault": fault.rawValue, "lasts": lasts]
        }
    }

    /// How often each call was made since the start, under the point of its first time, and which of the rules have struck.
    func calls() throws -> (made: [FaultPoint: Int], hit: [Bool]) {
        let answer = try ask(["calls": true])
        var made: [FaultPoint: Int] = [:]
        for call in try #require(answer["calls"] as? [[Any]]) {
            let (name, path) = (try #require(call[0] as? String), try #require(call[1] as? String))
            made[FaultPoint(call: name, path: path, nth: 1)] = try #require(call[2] as? Int)
        }
        return (made, try #require(answer["hit"] as? [Bool]))
    }

    /// The daemon's exit status; negative for a signal.
    func wait() throws -> Int32 { Int32(try #require(try ask(["wait": true])["status"] as? Int)) }

    private func ask(_ command: [String: Any]) throws -> [String: Any] {
        try process.write(String(decoding: JSONSerialization.data(withJSONObject: command), as: UTF8.self))
        return try process.next()
    }
}
