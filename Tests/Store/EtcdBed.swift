import Foundation
import TestSupport
import Testing

@testable import Store

/// Three members of etcd on loopback (Tests/Support/etcd), and the real program that asks them.
final class EtcdBed {
    let directory: TemporaryDirectory
    private let cluster: Lines
    private let endpoints: [String]

    /// A slot that the cluster's users may read, and one that they may not.
    static let slot = sampleSlot("DEF123GHIJ", "com.example.web")
    static let foreign = sampleSlot("XYZ123GHIJ", "com.example.web")

    struct Failed: Error, CustomStringConvertible { let description: String }

    init() throws {
        directory = try TemporaryDirectory()
        cluster = try Lines(
            [
                "/usr/bin/python3", repository + "/Tests/Support/etcd/cluster.py", directory.path,
                repository + "/.build/etcd/usr/bin",
            ], last: "end")
        let first = try cluster.next()
        guard let endpoints = first["endpoints"] as? [String] else {
            throw Failed(description: "etcd did not start: \(first)")
        }
        self.endpoints = endpoints
    }

    /// Gives the cluster an order; returns its result, a number or a text.
    @discardableResult
    func order(_ order: String) throws -> Any? {
        try cluster.write(order)
        let answer = try cluster.next()
        if let error = answer["error"] { throw Failed(description: "\(order): \(error)") }
        return answer["result"]
    }

    /// The number of the member that leads.
    func leader() throws -> Int { try #require(try order("leader") as? Int) }

    /// Puts any value into a slot, as an administrator could.
    func write(_ value: String, into slot: StoreSlot = slot) throws {
        try order("ctl put \(String(decoding: slot.key(below: "/clientsecretd"), as: UTF8.self)) '\(value)'")
    }

    /// Starts the program as one of the cluster's users.
    ///
    /// - Parameters:
    ///   - members: those that it knows of.
    func role(
        _ user: String? = "signer", password: String? = nil, certificate: String = "client", ca: String = "ca",
        members: [Int] = [0, 1, 2]
    ) throws -> Role {
        let name = "\(user ?? "none")-\(certificate)-\(ca)-\(members.map(String.init).joined())"
        let list = members.map { "\"\(endpoints[$0])\"" }.joined(separator: ", ")
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
        private let lines: Lines
        private(set) var notices: [StoreNotice] = []

        init(configuration: String) throws {
            let binary =
                ProcessInfo.processInfo.environment["CLIENTSECRETD_BINARY"]
                ?? repository + "/.build/release/clientsecretd"
            let path = URL(fileURLWithPath: binary).deletingLastPathComponent().path + "/clientsecretd-network"
            try #require(FileManager.default.isExecutableFile(atPath: path), "build \(path) first: make build")
            lines = try Lines([path, "store", "--config", configuration])
        }

        func ask(_ question: StoreQuestion) throws -> StoreResult {
            try lines.write(String(decoding: question.request, as: UTF8.self))
            while true {
                let line = try lines.nextLine()
                if let notice = StoreNotice(line: line) {
                    notices.append(notice)
                } else {
                    return try #require(
                        StoreResult(answer: line, sha256: { _ in [] }), "\(String(decoding: line, as: UTF8.self))")
                }
            }
        }

        func read(_ slots: StoreSlot...) throws -> StoreResult { try ask(.read(slots)) }

        func put(_ text: String, ifAt revision: Int64, slot: StoreSlot = EtcdBed.slot) throws -> StoreResult {
            try ask(.put(slot, token(text), ifAt: revision))
        }

        /// Asks until the store is asked again: a pause after a failure is random, and at most some seconds at first.
        func readOnceServed(_ slots: StoreSlot...) throws -> StoreResult {
            while true {
                let result = try ask(.read(slots))
                guard case .failed(let failure) = result, failure.retryAfter != nil else { return result }
                usleep(50_000)
            }
        }

        /// Waits for what it says without being asked.
        func nextNotice() throws -> StoreNotice {
            if !notices.isEmpty { return notices.removeFirst() }
            return try #require(StoreNotice(line: try lines.nextLine()))
        }
    }
}

/// A program that is asked and answers in lines, and ends with its input or this value.
final class Lines {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest = Data()
    private let last: String?

    /// - Parameter last: the line that ends it; without one a signal does.
    init(_ arguments: [String], last: String? = nil) throws {
        self.last = last
        process.executableURL = URL(fileURLWithPath: arguments[0])
        process.arguments = Array(arguments.dropFirst())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit {
        // A program started meanwhile may have the pipe open as well, so that its end does not come.
        if let last { try? write(last) } else { process.terminate() }
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func write(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    func nextLine() throws -> [UInt8] {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[rest.index(after: end)...]) }
                return Array(rest[..<end])
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { throw EtcdBed.Failed(description: "it ended: \(String(decoding: rest, as: UTF8.self))") }
            rest += more
        }
    }

    func next() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(nextLine())) as? [String: Any] ?? [:]
    }
}
