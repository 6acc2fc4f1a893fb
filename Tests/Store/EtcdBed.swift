import Failures
import Foundation
import TestSupport
import Testing

@testable import Store

typealias EtcdBed = EtcdCluster

/// The real program in its role, and what it is asked about.
extension EtcdCluster {
    /// A slot that the cluster's users may read, and one that they may not.
    static let slot = sampleSlot("DEF123GHIJ", "com.example.web")
    static let foreign = sampleSlot("XYZ123GHIJ", "com.example.web")

    /// The number of the member that leads.
    func leader() throws -> Int { try #require(try order("leader") as? Int) }

    /// Puts any value into a slot, as an administrator could.
    func write(_ value: String, into slot: StoreSlot = slot) throws {
        try order("ctl put /clientsecretd/v1/\(StoreKey.secret(slot)) '\(value)'")
    }

    /// How many puts have made what a slot holds.
    func puts(into slot: StoreSlot = slot) throws -> Int {
        let key = "/clientsecretd/v1/\(StoreKey.secret(slot))"
        let answer = try #require(try order("ctl get --write-out json \(key)") as? String)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any])
        return try #require((json["kvs"] as? [[String: Any]])?.first?["version"] as? Int)
    }

    /// Asks a member's gateway or metrics with curl, as whoever has the client's certificate.
    func ask(_ member: Int, _ path: String, _ arguments: [String] = []) throws -> Finished {
        try run(
            [
                "curl", "--silent", "--cacert", directory("ca.pem"), "--cert", directory("client.pem"), "--key",
                directory("client.key"), endpoints[member] + path,
            ] + arguments)
    }

    /// Whether a member has proposed a change to the others that they have not accepted yet.
    func hasProposed(_ member: Int) throws -> Bool {
        try !ask(member, "/metrics").output.contains("\netcd_server_proposals_pending 0\n")
    }

    /// Starts the program as one of the cluster's users.
    ///
    /// - Parameters:
    ///   - members: those that it knows of.
    ///   - endpoints: where it finds them; nil for where they are.
    func role(
        _ user: String? = "signer", password: String? = nil, certificate: String = "client", ca: String = "ca",
        members: [Int] = [0, 1, 2], at endpoints: [String]? = nil
    ) throws -> Role {
        let name = "\(user ?? "none")-\(certificate)-\(ca)-\(members.map(String.init).joined())"
        let list = (endpoints ?? members.map { self.endpoints[$0] }).map { "\"\($0)\"" }.joined(separator: ", ")
        var lines = [
            "store:", "  endpoints: [\(list)]", "  ca_file: \(directory("\(ca).pem"))",
            "  certificate_file: \(directory("\(certificate).pem"))", "  key_file: \(directory("\(certificate).key"))",
        ]
        if let user {
            try directory.write((password ?? user) + "\n", to: name + ".password")
            lines += ["  user: \(user)", "  password_file: \(directory(name + ".password"))"]
        }
        return try Role(configuration: directory.write(lines.joined(separator: "\n") + "\n", to: name + ".yaml"))
    }

    /// The program in its role, for as long as this value is there.
    final class Role {
        private let lines: Background
        private(set) var notices: [StoreWatchNotice] = []

        init(configuration: String) throws {
            // The store is asked through no proxy, whatever the environment says: where nothing listens nothing would answer.
            let nowhere = "http://127.0.0.1:1"
            lines = try Background(
                [Binaries.network, "store", "--config", configuration],
                environment: ["https_proxy": nowhere, "HTTPS_PROXY": nowhere, "ALL_PROXY": nowhere], waiting: false)
        }

        func ask(_ request: StoreRequest) throws -> StoreResult {
            try begin(request)
            return try answer()
        }

        /// Asks without waiting for the answer.
        func begin(_ request: StoreRequest) throws {
            try lines.write(String(decoding: StoreRoleRequest(request).line, as: UTF8.self))
        }

        /// Whether there is something to be read of it.
        var hasSpoken: Bool { lines.hasMore }

        /// Whether it has a connection to this endpoint.
        func isConnected(to endpoint: String) throws -> Bool {
            let port = try #require(endpoint.split(separator: ":").last)
            let connections = try run(["ss", "-Htnp", "state", "established", "dport = :\(port)"])
            return connections.output.contains("pid=\(lines.processID),")
        }

        /// The answer to what was asked.
        func answer() throws -> StoreResult {
            while true {
                let line = try lines.nextLine()
                if let notice = StoreWatchNotice(line: line) {
                    notices.append(notice)
                } else {
                    return try #require(StoreAnswer(line: line)?.result, "\(String(decoding: line, as: UTF8.self))")
                }
            }
        }

        func read(_ slots: StoreSlot...) throws -> StoreResult { try ask(.read(slots.map(StoreKey.secret))) }

        func put(_ text: String, ifAt revision: Int64, slot: StoreSlot = EtcdBed.slot) throws -> StoreResult {
            try ask(.put([secret(text, ifAt: revision, slot)]))
        }

        /// Asks until the store is asked again: a pause after a failure is random, and at most some seconds at first.
        func readOnceServed(_ slots: StoreSlot...) throws -> StoreResult {
            while true {
                let result = try ask(.read(slots.map(StoreKey.secret)))
                guard case .failed(let failure) = result, failure.retryAfter != nil else { return result }
                usleep(50_000)
            }
        }

        /// Waits for what it says without being asked.
        func nextNotice() throws -> StoreWatchNotice {
            if !notices.isEmpty { return notices.removeFirst() }
            return try #require(StoreWatchNotice(line: try lines.nextLine()))
        }
    }
}
