import Foundation
import TestSupport
import Testing

/// A place where a writer is reached, as systemd would keep it, whose connections are treated as a test wants
/// (`Tests/Support/host-user-writer.py`). Call ``end()`` in a `defer`.
final class UserWriterHost {
    /// A user and a group without an entry anywhere.
    static let user: UInt32 = 23_456
    private let process = Process()

    /// - Parameter daemonUser: who may ask, like root.
    init(_ sandbox: Sandbox, daemonUser: String = "root", _ behaviours: String...) throws {
        let places = sandbox.directory("writer")
        try? FileManager.default.createDirectory(atPath: places, withIntermediateDirectories: false)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // Foundation's children may have signals blocked that the writer is ended by.
        process.arguments =
            [
                "--default-signal", "/usr/bin/python3", repository + "/Tests/Support/host-user-writer.py",
                "\(places)/\(Self.user).sock",
            ]
            + ["\(Self.user)", try sandbox.reachableBinary(), sandbox.directory("clientsecretd.yaml"), daemonUser]
            + behaviours
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let said = try output.fileHandleForReading.read(upToCount: 10)
        try #require(said.map { String(decoding: $0, as: UTF8.self) } == "listening\n")
    }

    var processID: Int32 { process.processIdentifier }
    var isRunning: Bool { !process.hasEnded }

    func end() {
        kill(process.processIdentifier, SIGKILL)
        process.awaitEnd()
    }
}

extension Sandbox {
    /// The binary where other users may run it too.
    func reachableBinary() throws -> String {
        let path = directory("clientsecretd")
        if !FileManager.default.fileExists(atPath: path) {
            try FileManager.default.copyItem(atPath: binary, toPath: path)
            try permit(path, 0o755)
        }
        return path
    }

    /// A directory of another user's.
    func makeDirectory(_ name: String, of user: UInt32) throws {
        try makeDirectory(name)
        try FileManager.default.setAttributes(
            [.ownerAccountID: user, .groupOwnerAccountID: user], ofItemAtPath: directory(name))
    }

    /// A file of another user's.
    @discardableResult
    func write(_ text: String, to name: String, of user: UInt32) throws -> String {
        try directory.write(text, to: name)
        try FileManager.default.setAttributes(
            [.ownerAccountID: user, .groupOwnerAccountID: user], ofItemAtPath: directory(name))
        return directory(name)
    }

    /// The configuration, which a writer must be able to read.
    func configureForWriters(_ clients: String) throws {
        try configure(clients)
        try permit(directory("clientsecretd.yaml"), 0o644)
    }

    func owner(of name: String) throws -> [Int?] {
        let attributes = try FileManager.default.attributesOfItem(atPath: directory(name))
        return [attributes[.ownerAccountID] as? Int, attributes[.groupOwnerAccountID] as? Int]
    }

    /// A client with one variable of an environment file of another user's.
    func client(_ name: String, variable: String, of path: String) -> String {
        """
          \(name):
            client_id: com.example.\(name)
            outputs:
              - path: \(path)
                format: env
                variable: \(variable)
                as: \(UserWriterHost.user)

        """
    }

    /// What stands behind `NAME=` in an environment file.
    func variable(_ name: String, of file: String) throws -> String? {
        let lines = try directory.read(file).components(separatedBy: CharacterSet.newlines)
        return lines.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }
}
