import Failures
import Foundation
import Glibc
import Linux
import TestSupport
import Testing

/// A directory of a test's own, in which it makes files of every kind as root.
final class Room {
    let directory: TemporaryDirectory
    private var mounts: [String] = []
    private var flagged: [String] = []

    /// Root's identity, whoever started the tests through sudo.
    static let root = Identity(user: 0, group: 0)
    /// The largest file, in bytes.
    static let limit = 1 << 20
    /// A user that owns nothing on the machine.
    static let otherUser: UInt32 = 65_534
    static let otherIdentity = Identity(user: otherUser, group: otherUser)

    /// - Parameters:
    ///   - owner: of the directory.
    ///   - parent: where it is made; in a memory file system syncing takes no time.
    init(owner: UInt32 = 0, in parent: String = "/tmp") throws {
        directory = try TemporaryDirectory(in: parent)
        try own("", owner, group: owner)
    }

    deinit {
        for path in flagged { _ = try? run(["chattr", "-ia", path]) }
        for path in mounts.reversed() { _ = try? run(["umount", path]) }
    }

    func callAsFunction(_ name: String) -> String { name.isEmpty ? directory.path : directory(name) }

    @discardableResult
    func file(_ name: String, _ text: String = "old", mode: mode_t = 0o600, owner: UInt32 = 0) throws -> String {
        try directory.write(text, to: name)
        try own(name, owner, group: owner)
        try require(unsafe chmod(self(name), mode))
        return self(name)
    }

    @discardableResult
    func folder(_ name: String, mode: mode_t = 0o755, owner: UInt32 = 0) throws -> String {
        try require(unsafe mkdir(self(name), 0o700))
        try own(name, owner, group: owner)
        try require(unsafe chmod(self(name), mode))
        return self(name)
    }

    @discardableResult
    func link(_ name: String, to target: String, owner: UInt32 = 0) throws -> String {
        try require(unsafe symlink(target, self(name)))
        try own(name, owner)
        return self(name)
    }

    @discardableResult
    func fifo(_ name: String) throws -> String {
        try require(unsafe mkfifo(self(name), 0o600))
        return self(name)
    }

    func device(_ name: String) throws { try require(unsafe mknod(self(name), S_IFCHR | 0o600, 0x103)) }

    func hardLink(_ name: String, to other: String) throws { try require(unsafe Glibc.link(self(other), self(name))) }

    /// Removes a file or an empty directory.
    func remove(_ name: String) throws { try require(unsafe Glibc.remove(self(name))) }

    func own(_ name: String, _ owner: UInt32, group: UInt32? = nil) throws {
        try require(unsafe lchown(self(name), owner, group ?? .max))
    }

    /// Mounts at `name` for the lifetime of the room; `arguments` are those of mount before the mount point.
    func mount(_ arguments: [String], at name: String) throws {
        try command("mount", arguments + [self(name)])
        mounts.append(self(name))
    }

    /// Sets a flag with chattr, and clears it when the room is released.
    func flag(_ flag: String, _ name: String) throws {
        flagged.append(self(name))
        try command("chattr", [flag, self(name)])
    }

    @discardableResult
    func command(_ program: String, _ arguments: [String]) throws -> String {
        try runToSuccess([program] + arguments)
    }

    func text(_ name: String) throws -> String { try directory.read(name) }

    func names(_ name: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self(name)).sorted()
    }

    func status(_ name: String) throws -> stat {
        var found = stat()
        try require(unsafe lstat(self(name), &found))
        return found
    }

    func require(_ result: Int32) throws {
        let reason = String(describing: POSIXErrorCode(rawValue: errno))
        try #require(result == 0, "\(reason)")
    }
}

struct NothingThrown: Error {}
