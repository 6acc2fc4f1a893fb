import AppleClientSecret
import Foundation
import Linux
import Publishing
import Rotation
import Signing
import TestSupport
import Testing

@testable import Daemon

/// A state directory that does not stay what it was when it was opened.
@Suite struct StateDoorTests {
    private let scratch: TemporaryDirectory
    private let path: AbsolutePath
    private let web: ClientName

    init() throws {
        scratch = try TemporaryDirectory()
        path = try #require(AbsolutePath(scratch("state")))
        web = try #require(ClientName("web"))
    }

    private func open() throws(Trouble) -> StateDirectory {
        try StateDirectory.open(path, as: .current(), sha256: { SHA256.digest($0) })
    }

    /// A door to it that counts how often it was lost.
    private func door(_ lost: Losses = Losses()) throws -> StateDoor {
        try StateDoor(
            at: path,
            open: { [path] former in
                do throws(Trouble) {
                    return .success(
                        try StateDirectory.open(
                            path, as: .current(), after: former, sha256: { SHA256.digest($0) }))
                } catch {
                    return .failure(error)
                }
            }, lost: { _ in lost.count.withLock { $0 += 1 } })
    }

    private final class Losses: Sendable {
        let count = QuietMutex(0)
        var sum: Int { count.withLock { $0 } }
    }

    private func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: scratch(name))
    }

    private func make(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: scratch(name), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    /// Whether what lies there now is locked by somebody.
    private var isLocked: Bool {
        do {
            _ = try open()
            return false
        } catch {
            return error.code == .stateLocked
        }
    }

    @Test func oneThatStaysInItsPlaceStaysOpen() throws {
        let losses = Losses()
        let door = try door(losses)
        let state = try door.get()
        try state.keep(ClientRecord(), of: web)
        try state.keep(Told())
        door.makeSure()
        #expect(try door.get() === state)
        #expect(losses.sum == 0)
    }

    @Test(arguments: ["emptied", "made anew", "replaced by a backup", "without its lock", "without its clients"])
    func oneThatIs(_ what: String) throws {
        let losses = Losses()
        let door = try door(losses)
        let state = try door.get()
        let tag = state.naming.tag
        switch what {
        case "emptied":
            for name in ["clients", "lock", "temporaries"] { try remove("state/\(name)") }
        case "made anew":
            try remove("state")
            try make("state")
        case "replaced by a backup":
            try FileManager.default.moveItem(atPath: scratch("state"), toPath: scratch("away"))
            do { _ = try open() }
            #expect(try scratch.read("state/temporaries") != tag)
        case "without its lock": try remove("state/lock")
        default: try remove("state/clients")
        }
        door.makeSure()
        let anew = try door.get()
        #expect(anew !== state && losses.sum == 1)
        try anew.keep(ClientRecord(), of: web)
        #expect(FileManager.default.fileExists(atPath: scratch("state/clients/web.state")))
        #expect(try scratch.read("state/temporaries") == tag)
        #expect(isLocked)
        door.makeSure()
        #expect(try door.get() === anew && losses.sum == 1)
    }

    @Test func whoeverKeepsSomethingNoticesItASecondLaterAtTheLatest() throws {
        let door = try door()
        let state = try door.get()
        try remove("state")
        usleep(UInt32(StateDoor.pace) * 1_000)
        #expect(try door.get() !== state)
    }

    @Test func oneThatAnotherHoldsIsWaitedFor() throws {
        let losses = Losses()
        let door = try door(losses)
        try remove("state")
        do {
            let other = try open()
            door.makeSure()
            #expect(throws: Trouble(.stateLocked, at: .path(path))) { _ = try door.get() }
            withExtendedLifetime(other) {}
        }
        usleep(UInt32(StateDoor.pace) * 1_000)
        _ = try door.get()
        #expect(isLocked)
        #expect(losses.sum == 1)
    }

    @Test func whatIsOutOfReachForAWhileIsNobodyElses() throws {
        let door = try door()
        try FileManager.default.moveItem(atPath: scratch("state"), toPath: scratch("away"))
        try scratch.write("", to: "state")
        door.makeSure()
        #expect(throws: Trouble.self) { _ = try door.get() }
        try remove("state")
        try FileManager.default.moveItem(atPath: scratch("away"), toPath: scratch("state"))
        #expect(isLocked)
        usleep(UInt32(StateDoor.pace) * 1_000)
        _ = try door.get()
        #expect(isLocked)
    }
}
