import Failures
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Linux

/// A directory that was just walked to is reused only while a walk would reach it again.
@Suite(.needs(.root)) struct SharedDirectoriesTests {
    private let naming: TemporaryNames
    private let directories = SharedDirectories()

    init() throws { naming = try TemporaryNames() }

    private func write(_ text: String, to path: String) throws {
        try AtomicFile(path, as: Room.root, sharing: directories).replace(with: Array(text.utf8), naming: naming)
    }

    private func read(_ path: String) throws(FileError) -> String? {
        try GuardedPath.read(path, as: Room.root, limit: 100, sharing: directories)
            .map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private func room() throws -> Room {
        let room = try Room()
        try room.folder("a")
        try room.folder("a/b")
        try write("first", to: room("a/b/f"))
        return room
    }

    /// Runs `body` once with nothing but the cached directory, and once while `other` keeps it open.
    private func withAndWithoutHolder(_ body: (Room) throws -> Void) throws {
        try body(try room())
        let room = try room()
        let other = try AtomicFile(room("a/b/other"), as: Room.root, sharing: directories)
        try body(room)
        #expect(other.content == nil)
    }

    @Test func aDirectoryThatTookTheOthersPlaceIsTheOneThatIsUsed() throws {
        try withAndWithoutHolder { room in
            for name in ["a/b", "a"] {
                try room.require(unsafe rename(room(name), room("old")))
                if name == "a" { try room.folder("a") }
                try room.folder("a/b")
                #expect(try read(room("a/b/f")) == nil)
                try write("second", to: room("a/b/f"))
                #expect(try room.text("a/b/f") == "second")
                try room.command("rm", ["-r", room("old")])
            }
        }
    }

    @Test func aDirectoryThatIsGoneIsMissing() throws {
        try withAndWithoutHolder { room in
            try room.command("rm", ["-r", room("a")])
            let missing = try fileError { () throws(FileError) in _ = try read(room("a/b/f")) }
            #expect(missing.code == .directoryMissing)
        }
    }

    @Test func aDirectoryThatOthersMayWriteToIsRefusedAtOnce() throws {
        try withAndWithoutHolder { room in
            try room.require(unsafe chmod(room("a/b"), 0o777))
            let refusal = try fileError { () throws(FileError) in _ = try read(room("a/b/f")) }
            #expect(refusal.code == .unguardedDirectory)
            try room.require(unsafe chmod(room("a/b"), 0o755))
            try room.own("a/b", Room.otherUser)
            let other = try fileError { () throws(FileError) in _ = try read(room("a/b/f")) }
            #expect(other.code == .unguardedDirectory)
        }
    }

    @Test func anotherUsersLinkIsNotFollowedToAnotherDirectory() throws {
        try withAndWithoutHolder { room in
            try room.require(unsafe rename(room("a"), room("real")))
            try room.folder("other")
            try room.folder("other/b")
            try room.link("a", to: "other", owner: Room.otherUser)
            let refusal = try fileError { () throws(FileError) in _ = try read(room("a/b/f")) }
            #expect(refusal.code == .untrustedLink)
        }
    }

    /// While nobody holds the directory, a walk checks links on the path even if they lead to the same one.
    @Test func anotherUsersLinkToTheSameDirectoryIsNotFollowed() throws {
        let room = try room()
        try room.require(unsafe rename(room("a"), room("real")))
        try room.link("a", to: "real", owner: Room.otherUser)
        let refusal = try fileError { () throws(FileError) in _ = try read(room("a/b/f")) }
        #expect(refusal.code == .untrustedLink)
    }

    /// What one user may trust, another may not.
    @Test func itIsUsedAgainForTheSameUserAlone() throws {
        let room = try room()
        try room.folder("theirs", owner: Room.otherUser)
        let theirs = try GuardedWalk.place(room("theirs/f"), as: Room.otherIdentity, sharing: directories)
        #expect(theirs.found == nil)
        let refusal = try fileError { () throws(FileError) in _ = try read(room("theirs/f")) }
        #expect(refusal.code == .unguardedDirectory)
    }

    @Test func aLinkAtTheEndIsJudged() throws {
        try withAndWithoutHolder { room in
            try room.folder("a/c")
            try room.file("a/c/g", "linked")
            try room.link("a/b/good", to: "../c/g")
            try room.link("a/b/bad", to: "../c/g", owner: Room.otherUser)
            #expect(try read(room("a/b/good")) == "linked")
            let refusal = try fileError { () throws(FileError) in _ = try read(room("a/b/bad")) }
            #expect(refusal.code == .untrustedLink)
        }
    }

    /// For the directories above it a check counts for a second.
    @Test func aWayThatOthersMayWriteToIsRefusedSoon() throws {
        try withAndWithoutHolder { room in
            try room.require(unsafe chmod(room("a"), 0o777))
            let deadline = Date(timeIntervalSinceNow: 60)
            var refusal: FileError?
            while refusal == nil, Date() < deadline {
                do throws(FileError) { _ = try read(room("a/b/f")) } catch { refusal = error }
            }
            #expect(refusal?.code == .unguardedDirectory)
        }
    }

    @Test func nothingIsHeldOpen() throws {
        let room = try room()
        #expect(try read(room("a/b/f")) == "first")
        #expect(try read(room("a/b/g")) == nil)
        let held = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
            return target?.hasPrefix(room("")) == true
        }
        #expect(held == [])
    }

    /// Writers that hold a directory at the same time share it, and thereby its syncs.
    @Test func thoseWhoComeTogetherShareIt() throws {
        let room = try room()
        let one = try GuardedWalk.place(room("a/b/one"), as: Room.root, sharing: directories)
        let two = try GuardedWalk.place(room("a/b/two"), as: Room.root, sharing: directories)
        #expect(one.directory === two.directory)
    }
}
