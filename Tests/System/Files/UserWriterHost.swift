import Foundation
import TestSupport
import Testing

/// A place where a writer is reached, as systemd would keep it, whose connections are treated as a test wants
/// (`Tests/Support/host-user-writer.py`). Call ``end()`` in a `defer`.
final class UserWriterHost {
    /// A user and a group without an entry anywhere.
    static let user: UInt32 = 23_456
    private var process: Background?

    /// - Parameter daemonUser: who may ask, like root.
    init(_ sandbox: Sandbox, daemonUser: String = "root", _ behaviours: String...) throws {
        try? sandbox.makeDirectory("writer", mode: 0o755)
        // Signals that the writer is ended by may be blocked here.
        let process = try Background(
            [
                "--default-signal", "/usr/bin/python3", repository + "/Tests/Support/host-user-writer.py",
                sandbox.directory("writer/\(Self.user).sock"), "\(Self.user)", sandbox.reachableBinary(),
                sandbox.configuration, daemonUser,
            ] + behaviours)
        try #require(process.firstLine == "listening")
        processID = process.processID
        self.process = process
    }

    let processID: pid_t
    /// After "listening" it says nothing.
    var isRunning: Bool { process?.hasMore == false }

    func end() { process = nil }
}

extension Sandbox {
    /// The binary where other users may run it too.
    func reachableBinary() throws -> String {
        let path = directory("clientsecretd")
        if !FileManager.default.fileExists(atPath: path) {
            try copyProgram(binary, to: path)
            try permit(path, 0o755)
        }
        return path
    }

    /// Gives a file or a directory to another user.
    ///
    /// - Parameter group: that user's own unless told otherwise.
    func give(_ name: String, to user: UInt32, group: UInt32? = nil) throws {
        try FileManager.default.setAttributes(
            [.ownerAccountID: user, .groupOwnerAccountID: group ?? user], ofItemAtPath: directory(name))
    }

    /// A directory of another user's.
    func makeDirectory(_ name: String, of user: UInt32) throws {
        try makeDirectory(name)
        try give(name, to: user)
    }

    /// A file of another user's.
    @discardableResult
    func write(_ text: String, to name: String, of user: UInt32) throws -> String {
        let path = try directory.write(text, to: name)
        try give(name, to: user)
        return path
    }

    /// The configuration, which a writer must be able to read.
    func configureForWriters(_ clients: String) throws {
        try configure(clients)
        try permit(configuration, 0o644)
    }

    func owner(of name: String) throws -> [Int?] {
        let attributes = try FileManager.default.attributesOfItem(atPath: directory(name))
        return [attributes[.ownerAccountID] as? Int, attributes[.groupOwnerAccountID] as? Int]
    }

    /// A client with one variable of an environment file of another user's.
    func client(_ name: String, variable: String, of path: String) -> String {
        client(name, at: path, variable: variable) + "        as: \(UserWriterHost.user)\n"
    }

    /// What stands behind `NAME=` in an environment file.
    func variable(_ name: String, of file: String) throws -> String? {
        let lines = try directory.read(file).components(separatedBy: CharacterSet.newlines)
        return lines.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }
}
