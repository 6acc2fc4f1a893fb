import Glibc
import Linux
import SystemPackage
import TestSupport
import Testing

@testable import Failures

/// Files that decide who may use a key have to be guarded like the key.
@Suite(.needs(.root)) struct TrustedFileTests {
    private func read(_ path: String, as identity: Identity = Room.root) throws(FileError) -> [UInt8] {
        try TrustedFile.read(path, for: .configuration, as: identity, limit: 100).bytes
    }

    @Test func aGuardedFileIsRead() throws {
        let room = try Room()
        try room.file("f", "content", mode: 0o644)
        try room.link("way", to: room("f"))
        #expect(try read(room("way")) == Array("content".utf8))
        #expect(try TrustedFile.read(room("way"), for: .configuration, as: Room.root, limit: 9).path == room("f"))
    }

    @Test func anotherUsersFileIsRefused() throws {
        let room = try Room()
        try room.file("it's", mode: 0o644, owner: Room.otherUser)
        #expect(
            throws: FileError(
                .notGuarded, at: room("it's"), detail: "the file belongs to nobody (65534)",
                remedy: .say(
                    "look at what user \"nobody\" put there, then replace it with a copy that root owns",
                    see: .list(room("it's"))
                ))
        ) { try read(room("it's")) }
        #expect(try read(room("it's"), as: Identity(user: 0, group: 0, caller: Room.otherUser)) == Array("old".utf8))
    }

    @Test(arguments: [(0o664, "its group", "g-w"), (0o646, "every user", "o-w")])
    func aFileThatOthersMayWriteToIsRefused(mode: Int, who: String, take: String) throws {
        let room = try Room()
        try room.file("f.yaml", mode: mode_t(mode))
        #expect(
            throws: FileError(
                .notGuarded, at: room("f.yaml"), detail: "the file is writable by \(who)",
                remedy: Remedy(
                    words: "look at what they may have written there, then remove their write permission "
                        + "(chmod \(take) \(room("f.yaml")))", command: nil))
        ) { try read(room("f.yaml")) }
        // What is not called a configuration may be any other file of the machine, which its group has to write.
        try room.file("f", mode: mode_t(mode))
        let other = try #require(throws: FileError.self) { try read(room("f")) }
        #expect(other.remedy != nil && other.remedy?.command == nil)
    }

    private static let moving = Remedy.say(
        "let only root or the daemon's user write there, or keep the file below directories where that is so")

    @Test func everyDirectoryAboveCounts() throws {
        let room = try Room()
        try room.folder("a")
        try room.folder("a/b")
        try room.file("a/b/f")
        try room.own("a", Room.otherUser)
        #expect(
            throws: FileError(
                .notGuarded, at: room("a"), detail: "the directory belongs to nobody (65534)",
                remedy: Self.moving)
        ) { try read(room("a/b/f")) }
        try room.own("a", 0)
        try room.command("chmod", ["g+w", room("a")])
        #expect(
            throws: FileError(
                .notGuarded, at: room("a"), detail: "the directory is writable by its group",
                remedy: Self.moving)
        ) { try read(room("a/b/f")) }
        try room.command("chmod", ["+t", room("a")])
        #expect(try read(room("a/b/f")) == Array("old".utf8))
    }

    @Test func onlyRootsStickyDirectoryIsFine() throws {
        let room = try Room(owner: Room.otherUser)
        try room.folder("a", mode: 0o1777, owner: Room.otherUser)
        try room.file("a/f", owner: Room.otherUser)
        #expect(
            throws: FileError(
                .notGuarded, at: room("a"), detail: "the directory is writable by its group and every other user",
                remedy: Self.moving)
        ) { try read(room("a/f"), as: Room.otherIdentity) }
    }

    @Test func anotherUsersLinkIsRefusedWhateverItPointsTo() throws {
        let room = try Room()
        try room.file("f")
        try room.link("end", to: "f", owner: Room.otherUser)
        #expect(
            throws: FileError(
                .untrustedLink, at: room("end"), detail: "the link belongs to nobody (65534)",
                remedy: Remedy(words: "remove the link", command: "test -L \(room("end")) && rm \(room("end"))"))
        ) { try read(room("end")) }
    }

    @Test func aHookHasToBeExecutable() throws {
        let room = try Room()
        try room.file("hook", mode: 0o755)
        #expect(try TrustedFile.check(room("hook"), for: .executable, as: Room.root).mode == 0o755)
        try room.file("hook", mode: 0o644)
        #expect(
            throws: FileError(
                .permissionDenied, at: room("hook"), errno: .permissionDenied, detail: "it may not be executed",
                remedy: Remedy(words: "let root execute it", command: "chmod a+x \(room("hook"))"))
        ) { try TrustedFile.check(room("hook"), for: .executable, as: Room.root) }
        try room.file("hook", mode: 0o700)
        try room.command("chmod", ["755", room("")])
        let path = room("hook")
        let kind = try acting(as: Room.otherIdentity) {
            try #require(throws: FileError.self) {
                try TrustedFile.check(path, for: .executable, as: Room.otherIdentity)
            }.code
        }
        #expect(kind == .permissionDenied)
    }

    @Test func namesComeInByteOrderWithoutHiddenOnes() throws {
        let room = try Room()
        for name in ["b.yaml", "a.yaml", "Z.yaml", "ä.yaml", ".x.yaml", "c.yml", "d.yaml~", ".yaml"] {
            try room.file(name)
        }
        #expect(
            try TrustedFile.names(in: room(""), ending: ".yaml", as: Room.root)
                == ["Z.yaml", "a.yaml", "b.yaml", "ä.yaml"])
        #expect(throws: FileError(.directoryMissing, at: room("no"), errno: .noSuchFileOrDirectory)) {
            try TrustedFile.names(in: room("no"), ending: ".yaml", as: Room.root)
        }
        try room.command("sh", ["-c", #"touch "$1/$(printf '\377').yaml""#, "sh", room("")])
        #expect(
            throws: FileError(
                .systemError, at: room("\u{FFFD}.yaml"), errno: .illegalByteSequence, detail: "its name is not UTF-8")
        ) { try TrustedFile.names(in: room(""), ending: ".yaml", as: Room.root) }
    }
}
