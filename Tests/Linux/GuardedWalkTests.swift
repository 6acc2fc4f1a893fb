import Glibc
import Linux
import SystemPackage
import TestSupport
import Testing

@testable import Failures

/// Which links are followed and which directories entered on the path to a published file.
@Suite(.needs(.root)) struct GuardedWalkTests {
    private func read(_ path: String, as identity: Identity = Room.root) throws(FileError) -> FileContent? {
        try GuardedPath.read(path, as: identity, limit: 100)
    }

    /// Below a trusted directory, directories may be writable by anybody; links are followed as elsewhere, and files
    /// that must be guarded are checked as elsewhere.
    @Test func belowATrustedPlaceDirectoriesMayBeWrittenByAnybody() throws {
        let room = try Room()
        try room.folder("volume")
        try room.folder("volume/deep")
        try room.file("volume/deep/f", "content")
        try room.link("volume/link", to: "deep/f")
        try room.own("volume/link", 65_534, group: 0)
        for path in ["volume", "volume/deep"] { #expect(unsafe chmod(room(path), 0o2777) == 0) }
        let trusting = Room.root.trusting([FilePath(room("volume"))])
        #expect(
            try #require(throws: FileError.self) { try read(room("volume/deep/f")) }.code == .unguardedDirectory)
        #expect(try read(room("volume/deep/f"), as: trusting)?.bytes == Array("content".utf8))
        #expect(
            try #require(throws: FileError.self) { try read(room("volume/link"), as: trusting) }.code
                == .untrustedLink)
        #expect(
            try #require(throws: FileError.self) {
                try TrustedFile.check(room("volume/deep/f"), for: .configuration, as: trusting)
            }.code == .notGuarded)
        #expect(
            try #require(throws: FileError.self) {
                try read(room("volume/deep/f"), as: Room.root.trusting([FilePath(room("volume/deep"))]))
            }.path == room("volume"))
    }

    @Test func anAbsentFileIsNothingAndAnAbsentDirectoryAnError() throws {
        let room = try Room()
        #expect(try read(room("f")) == nil)
        #expect(throws: FileError(.directoryMissing, at: room("a"), errno: .noSuchFileOrDirectory)) {
            try read(room("a/b/f"))
        }
        try room.file("a")
        #expect(throws: FileError(.notADirectory, at: room("a"), errno: .notDirectory)) { try read(room("a/f")) }
    }

    @Test func aRelativePathAndOneWithAZeroAreRefused() {
        for path in ["a/f", "", "/tmp/\0f"] {
            #expect(
                throws: FileError(
                    .systemError, at: path, errno: .invalidArgument, detail: "not an absolute path")
            ) { try read(path) }
        }
    }

    @Test func linksOfRootsAreFollowedOnTheWayAndAtTheEnd() throws {
        let room = try Room()
        try room.folder("real")
        try room.folder("real/deep")
        try room.file("real/deep/f", "content")
        try room.link("way", to: "real/./deep")
        try room.link("absolute", to: room("real"))
        try room.link("real/deep/end", to: "../deep/f")
        try room.link("last", to: "way/end")
        for path in ["way/f", "absolute/deep/f", "way/end", "last", "way/../deep/f", "way/../../last"] {
            let content = try #require(try read(room(path)), "\(path)")
            #expect(content.bytes == Array("content".utf8))
            #expect(content.path == room("real/deep/f"))
        }
    }

    @Test func aLinkToNothingIsAnAbsentFileAtItsEnd() throws {
        let room = try Room()
        try room.folder("real")
        try room.link("last", to: "real/f")
        #expect(try read(room("last")) == nil)
        #expect(try AtomicFile(room("last"), as: Room.root, limit: Room.limit).path == room("real/f"))
    }

    @Test func anotherUsersLinkIsNotFollowed() throws {
        let room = try Room()
        try room.folder("real")
        try room.file("real/f")
        try room.link("way", to: "real", owner: Room.otherUser)
        try room.link("real/end", to: "f", owner: Room.otherUser)
        try room.link("dangling", to: "nothing", owner: Room.otherUser)
        for (path, link) in [("way/f", "way"), ("real/end", "real/end"), ("dangling", "dangling")] {
            let expected = FileError(
                .untrustedLink, at: room(link),
                detail: "the link belongs to nobody (65534), but its target does not",
                remedy: Remedy(words: "remove the link", command: "test -L \(room(link)) && rm \(room(link))"))
            #expect(throws: expected) { try read(room(path)) }
        }
    }

    private static let closing = Remedy.say(
        "write another path, or remove write permission for its group and others, if nothing needs it")

    /// Whatever is wrong behind it, its owner chose: nothing but the link is reported.
    @Test(arguments: [
        "none/f", "folder", "fifo", "large", "theirs", "open/f", "file/f", "shared/f", "/etc/none/f", "/etc/passwd",
        "/proc/self/environ",
    ])
    func aFailureBehindAnotherUsersLinkIsTheLinks(target: String) throws {
        let room = try Room()
        try room.folder("shared", mode: 0o1777)
        for folder in ["folder", "theirs"] { try room.folder(folder, owner: Room.otherUser) }
        try room.folder("open", mode: 0o777, owner: Room.otherUser)
        try room.file("file", owner: Room.otherUser)
        try room.file("large", String(repeating: "x", count: 2 << 20), owner: Room.otherUser)
        try room.fifo("fifo")
        try room.own("fifo", Room.otherUser)
        let link = try room.link(
            "shared/f", to: target.hasPrefix("/") ? target : room(target), owner: Room.otherUser)
        for path in [link, link + "/f"] {
            let refused = try #require(throws: FileError.self) {
                _ = try AtomicFile(path, as: Room.root, limit: Room.limit)
            }
            #expect(refused.code == .untrustedLink && refused.path == link)
            #expect(refused.remedy?.command == "test -L \(link) && rm \(link)")
        }
    }

    /// Its user could have root's file given away, because that is what would let the writer go on.
    @Test(arguments: ["roots", "/etc/passwd", "closed/f", "folder/f", "/etc/clientsecretd-none"])
    func aFailureBehindAnOwnLinkToWhatIsAnothersIsTheLinks(target: String) throws {
        let room = try Room()
        try #require(unsafe chmod(room(""), 0o755) == 0)
        try room.file("roots")
        try room.folder("closed", mode: 0o700)
        try room.folder("folder")
        try room.file("folder/f")
        try room.folder("own", owner: Room.otherUser)
        let isWay = target.hasSuffix("/f")
        let place = isWay ? String(target.dropLast(2)) : target
        let link = try room.link("own/f", to: place.hasPrefix("/") ? place : room(place), owner: Room.otherUser)
        let path = isWay ? link + "/f" : link
        let naming = TemporaryNames()
        let refused = try #require(throws: FileError.self) {
            try acting(as: Room.otherIdentity) {
                try AtomicFile(path, as: Room.otherIdentity, limit: Room.limit).replace(with: [], naming: naming)
            }
        }
        #expect(refused.code == .untrustedLink && refused.path == link)
        #expect(refused.remedy?.command == "runuser -u nobody -- find \(link) -maxdepth 0 -type l -delete")
        #expect(GuardedPath.untrustedLink(on: path, for: Room.otherUser) == refused.remedy)
    }

    /// As with a deployment that root gave to another user: without the link an application would lose its file.
    @Test func aLinkOfItsTargetsOwnerIsNotRemoved() throws {
        let room = try Room()
        try #require(unsafe chmod(room(""), 0o755) == 0)
        let user: UInt32 = 1
        try room.folder("own", owner: user)
        try room.folder("shared", owner: Room.otherUser)
        try room.file("shared/f", owner: Room.otherUser)
        // The link's owner could write there through the first one, but not in another user's directory.
        for (name, identity, owner) in [
            ("f", Room.root, "nobody"), ("own/f", Identity(user: user, group: user), nil),
        ] as [(String, Identity, String?)] {
            let link = try room.link(name, to: room("shared/f"), owner: Room.otherUser)
            let refused = try #require(throws: FileError.self) {
                _ = try AtomicFile(link, as: identity, limit: Room.limit)
            }
            #expect(refused.code == .foreignOwner && refused.path == link)
            #expect(refused.owner == owner && refused.remedy?.command == nil)
            #expect(GuardedPath.untrustedLink(on: link, for: identity.user) == nil)
        }
    }

    @Test func anotherUsersLinkToTheirOwnFileIsFollowed() throws {
        let room = try Room()
        try room.file("f", "theirs", owner: Room.otherUser)
        try room.link("hop", to: "f", owner: Room.otherUser)
        try room.link("end", to: "hop", owner: Room.otherUser)
        #expect(try read(room("end"))?.bytes == Array("theirs".utf8))
        // The end of the links counts, not the next one.
        try room.file("key", "secret")
        try room.link("hop2", to: "key", owner: Room.otherUser)
        try room.link("end2", to: "hop2", owner: Room.otherUser)
        #expect(try #require(throws: FileError.self) { try read(room("end2")) }.code == .untrustedLink)
    }

    @Test func linksGoRoundOnlySoOften() throws {
        let room = try Room()
        try room.link("loop", to: "loop")
        #expect(
            throws: FileError(.tooManyLinks, at: room("loop"), errno: .tooManySymbolicLinkLevels)
        ) { try read(room("loop")) }
        try room.file("0")
        for number in 1...41 { try room.link("\(number)", to: "\(number - 1)") }
        #expect(try read(room("40")) != nil)
        #expect(try #require(throws: FileError.self) { try read(room("41")) }.code == .tooManyLinks)
    }

    @Test func linksOfProcAreNotFollowed() throws {
        let room = try Room()
        let path = try room.file("f")
        let descriptor = unsafe open(path, O_RDONLY)
        defer { close(descriptor) }
        let expected = FileError(
            .untrustedLink, at: "/proc/\(getpid())/fd/\(descriptor)", detail: "links of /proc are not followed")
        #expect(throws: expected) { try read("/proc/\(getpid())/fd/\(descriptor)") }
        #expect(throws: (any Error).self) { try read("/proc/self/root\(path)") }
        #expect(throws: (any Error).self) { try read("/proc/\(getpid())/cwd/f") }
    }

    @Test(arguments: [
        (0o775, "its group"), (0o757, "every user"), (0o777, "its group and every other user"), (0o2775, "its group"),
    ])
    func aDirectoryThatOthersMayWriteToIsRefused(mode: Int, who: String) throws {
        let room = try Room()
        try room.folder("a b", mode: mode_t(mode))
        try room.folder("a b/c")
        let expected = FileError(
            .unguardedDirectory, at: room("a b"), detail: "the directory is writable by \(who)",
            remedy: Self.closing)
        #expect(throws: expected) { try read(room("a b/f")) }
        #expect(throws: expected) { try read(room("a b/c/f")) }
        #expect(throws: expected) { _ = try AtomicFile(room("a b/f"), as: Room.root, limit: Room.limit) }
        #expect(throws: expected) { try GuardedPath.directory(room("a b"), as: Room.root) }
        try room.command("chmod", ["+t", room("a b")])
        #expect(try read(room("a b/f")) == nil)
    }

    /// The group's bits of the mode are the list's mask then: the daemon's own entry sets them, too.
    @Test func aDirectoryThatAnAccessListOpensToAnotherUserIsRefused() throws {
        let room = try Room()
        let daemon = Identity(user: 1, group: 1)
        for (entry, who, removal) in [
            ("u:nobody:rwx", "the user nobody (65534)", "setfacl -n -x u:65534 \(room("a"))"),
            ("g:daemon:rwx", "the group daemon (1)", "setfacl -n -x g:1 \(room("a"))"),
            ("g::rwx", "the group root (0)", "setfacl -n -m g::rx \(room("a"))"),
        ] {
            try room.folder("a")
            try room.command("setfacl", ["-m", "u:daemon:rwx,u:bin:rx", room("a")])
            #expect(try GuardedPath.read(room("a/f"), as: daemon, limit: 1) == nil)
            try room.command("setfacl", ["-m", entry, room("a")])
            #expect(
                throws: FileError(
                    .unguardedDirectory, at: room("a"), detail: "its access list lets \(who) write to it",
                    remedy: .say(
                        "write another path, or remove them from its access list, if they need not write there (\(removal))"
                    ))
            ) { try GuardedPath.read(room("a/f"), as: daemon, limit: 1) }
            // The command leaves the daemon its rights.
            try room.command("sh", ["-c", removal])
            #expect(try GuardedPath.read(room("a/f"), as: daemon, limit: 1) == nil)
            #expect(try run(["getfacl", "-cp", room("a")]).output.contains("user:daemon:rwx\n"))
            try room.command("rmdir", [room("a")])
        }
    }

    @Test func anotherUsersDirectoryIsRefusedStickyOrNot() throws {
        let room = try Room()
        try room.folder("a", owner: Room.otherUser)
        try room.folder("b", mode: 0o1777, owner: Room.otherUser)
        for name in ["a", "b"] {
            #expect(
                throws: FileError(
                    .unguardedDirectory, at: room(name), detail: "the directory belongs to nobody (65534)",
                    owner: "nobody")
            ) { try read(room("\(name)/f")) }
            let itself = Identity(user: Room.otherUser, group: Room.otherUser)
            try room.own("", Room.otherUser)
            #expect(try GuardedPath.read(room("\(name)/f"), as: itself, limit: 1) == nil)
            try room.own("", 0)
        }
    }

    @Test func theCallerOfSudoIsTrusted() throws {
        let room = try Room()
        try room.folder("a", owner: Room.otherUser)
        try room.link("way", to: "a", owner: Room.otherUser)
        let sudo = Identity(user: 0, group: 0, caller: Room.otherUser)
        #expect(try read(room("way/f"), as: sudo) == nil)
    }

    @Test func onlyRegularFilesAreRead() throws {
        let room = try Room()
        try room.folder("folder")
        try room.device("device")
        #expect(throws: FileError(.isDirectory, at: room("folder"))) { try read(room("folder/.")) }
        #expect(throws: FileError(.isDirectory, at: "/")) { try read("/") }
        // Nobody is to remove it.
        let device = FileError(
            .notARegularFile, at: room("device"), detail: "device", remedy: .say("write another path"))
        #expect(throws: device) { try read(room("device")) }
    }

    @Test func aFileOverTheLimitIsRefused() throws {
        let room = try Room()
        try room.file("f", String(repeating: "x", count: 100))
        #expect(try read(room("f"))?.bytes.count == 100)
        try room.file("f", String(repeating: "x", count: 101))
        #expect(
            throws: FileError(.fileTooLarge, at: room("f"), detail: "101 bytes are more than the 100 allowed")
        ) { try read(room("f")) }
    }

    @Test func namesAndPathsThatAreTooLongAreRefused() throws {
        let room = try Room()
        let long = String(repeating: "x", count: 256)
        #expect(throws: FileError(.nameTooLong, at: room(long), errno: .fileNameTooLong)) { try read(room(long)) }
        let path = "/" + String(repeating: "x/", count: 2_048)
        #expect(throws: FileError(.nameTooLong, at: path)) { try read(path) }
    }

    @Test func directoriesThatAreTooDeepAreRefused() throws {
        let room = try Room()
        // The root is the first of 128.
        let more = 127 - room("").split(separator: "/").count
        let deepest = room("") + String(repeating: "/d", count: more)
        try room.command("mkdir", ["-p", deepest + "/d"])
        #expect(try read(deepest + "/f") == nil)
        #expect(
            throws: FileError(
                .nameTooLong, at: deepest + "/d", detail: "more than 128 directories below one another")
        ) { try read(deepest + "/d/f") }
    }

    @Test func withoutTheRightToSearchItSaysWhere() throws {
        let room = try Room(owner: Room.otherUser)
        try room.folder("a", mode: 0o700)
        let path = room("a/b/f")
        let error = try acting(as: Room.otherIdentity) {
            try #require(throws: FileError.self) {
                _ = try GuardedPath.read(path, as: Room.otherIdentity, limit: 1)
            }
        }
        #expect(error == FileError(.permissionDenied, at: room("a"), errno: .permissionDenied))
    }
}
