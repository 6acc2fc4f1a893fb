import Foundation
import TestSupport
import Testing

/// A supervised daemon with many clients, each with a directory of its own, so that each can meet a fault of its own.
final class FaultFixture {
    private let sandbox: Sandbox
    private let supervisor: Supervisor
    private var process: Int32 = 0
    private var count = 0

    init(_ sandbox: Sandbox, _ supervisor: Supervisor) {
        self.sandbox = sandbox
        self.supervisor = supervisor
    }

    private func directory(_ client: Int) -> String { sandbox.directory("out/\(client)") }

    /// Starts the daemon with so many clients and waits until all is well.
    func start(clients count: Int) throws {
        self.count = count
        var text = ""
        for client in 0..<count {
            try? sandbox.makeDirectory("out/\(client)")
            text += sandbox.client("client-\(client)", at: directory(client) + "/secret.jwt")
            text += "        mode: \"0640\"\n        group: nogroup\n"
        }
        try sandbox.configure(text)
        process = try supervisor.start()
        try sandbox.eventually("a daemon that is well") {
            guard FileManager.default.fileExists(atPath: sandbox.socket) else { return false }
            return try sandbox.isWell()
        }
    }

    func stop() throws {
        kill(process, SIGTERM)
        #expect(try supervisor.wait() == 0)
    }

    /// Each call that a renewal makes in a client's directory, with each way of refusing it.
    func everyFault() throws -> [(point: FaultPoint, fault: Fault)] {
        try start(clients: 1)
        try supervisor.give([])
        #expect(try sandbox.command("renew").status == 0)
        var counts: [String: Int] = [:]
        for call in try supervisor.calls().made where (call.path + "/").hasPrefix(directory(0) + "/") {
            counts[call.name, default: 0] += call.count
        }
        try stop()
        return counts.sorted { $0.key < $1.key }.flatMap { name, count in
            (1...count).flatMap { nth in
                Fault.refusals.map { (FaultPoint(call: name, path: "", nth: nth), $0) }
            }
        }
    }

    func rule(_ point: FaultPoint, _ fault: Fault, client: Int) -> Supervisor.Rule {
        let here = FaultPoint(call: point.call, path: directory(client), nth: point.nth)
        return Supervisor.Rule(point: here, fault: fault, tree: true)
    }

    func tokens() throws -> [String] { try (0..<count).map { try sandbox.text(directory($0) + "/secret.jwt") } }

    /// What status and the log said of each client's output until nothing at all was wrong any more, a minute at most. A
    /// failure that is over within a second is seen in status by chance.
    func whatIsReportedUntilAllIsOK() throws -> [Int: String] {
        var told: [Int: String] = [:]
        try sandbox.eventually("recovery from every fault") {
            let status = try sandbox.status()
            for client in try #require(status["clients"] as? [[String: Any]]) {
                let name = try #require(client["name"] as? String)
                let number = try #require(Int(name.dropFirst("client-".count)))
                let output = (client["outputs"] as? [[String: Any]])?.first
                if let error = output?["error"] as? String { told[number, default: ""] += error + "\n" }
            }
            return status["state"] as? String == "ok"
        }
        let lines = try sandbox.log().split(separator: "\n")
        for client in 0..<count {
            for line in lines where line.contains(directory(client) + "/") && !line.hasPrefix("wrote ") {
                told[client, default: ""] += line + "\n"
            }
        }
        return told
    }
}
