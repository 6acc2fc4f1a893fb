import Failures
import Glibc
import Linux
import SystemPackage
import TestSupport
import Testing

/// A file is replaced as a whole and keeps everything else that the old one had.
@Suite(.needs(.root)) struct AtomicFileTests {
    private let naming = TemporaryNames()

    private func replace(
        _ path: String, _ text: String = "new", mode: UInt16? = nil, group: UInt32? = nil,
        as identity: Identity = Room.root
    ) throws(FileError) {
        try AtomicFile(path, as: identity, limit: Room.limit).replace(
            with: Array(text.utf8), mode: mode, group: group, naming: naming)
    }

    @Test func anOverwritingGivesTheOldFileNothing() throws {
        let room = try Room()
        try room.file("f", mode: 0o644)
        let before = try room.status("f")
        try AtomicFile.overwrite(
            room("f"), with: Array("new".utf8), mode: 0o600, limit: Room.limit, as: Room.root, naming: naming)
        #expect(try room.text("f") == "new")
        #expect(try room.status("f").st_ino != before.st_ino)
        #expect(try room.status("f").st_mode == S_IFREG | 0o600)
        #expect(try room.names() == ["f"])
    }

    @Test func settingsGiveModeAndGroup() throws {
        let room = try Room()
        try replace(room("f"), mode: 0o640, group: 33)
        #expect(try room.status("f").st_mode == S_IFREG | 0o640)
        #expect(try room.status("f").st_gid == 33)
        try replace(room("f"), mode: 0o444, group: 0)
        #expect(try room.status("f").st_mode == S_IFREG | 0o444)
        #expect(try room.status("f").st_gid == 0)
    }

    @Test func theOldFileGivesWhatSettingsLeaveOpen() throws {
        let room = try Room()
        try room.file("f", mode: 0o4644)
        try room.own("f", 0, group: 33)
        try room.command("chmod", ["4644", room("f")])
        let before = try room.status("f")
        let file = try AtomicFile(room("f"), as: Room.root, limit: Room.limit)
        #expect(file.content?.bytes == Array("old".utf8))
        try file.replace(with: Array("new".utf8), naming: naming)
        let after = try room.status("f")
        #expect(try room.text("f") == "new")
        #expect(after.st_ino != before.st_ino)
        // The set-user-ID bit is dropped: no file with a secret is to be run.
        #expect(after.st_mode == S_IFREG | 0o644)
        #expect(after.st_gid == 33)
        #expect(try room.names() == ["f"])
    }

    @Test func aSetGroupDirectoryGivesItsGroup() throws {
        let room = try Room()
        try room.folder("out")
        try room.own("out", 0, group: 33)
        try room.command("chmod", ["2750", room("out")])
        try replace(room("out/f"), mode: 0o640)
        #expect(try room.status("out/f").st_gid == 33)
    }

    @Test func theRealTargetOfALinkIsReplaced() throws {
        let room = try Room()
        try room.folder("real")
        try room.file("real/f")
        try room.link("f", to: "real/f")
        let file = try AtomicFile(room("f"), as: Room.root, limit: Room.limit)
        #expect(file.path == room("real/f"))
        try file.replace(with: Array("new".utf8), naming: naming)
        #expect(try room.status("f").st_mode & S_IFMT == S_IFLNK)
        #expect(try room.text("real/f") == "new")
        #expect(try room.names() == ["f", "real"])
        #expect(try room.names("real") == ["f"])
    }

    /// As after `cp -al`.
    @Test func ofAFileWithTwoNamesOnlyItsOwnGetsTheNewContent() throws {
        let room = try Room()
        try room.file("f")
        try room.hardLink("g", to: "f")
        let before = try room.text("g")
        try replace(room("f"))
        #expect(try room.text("f") == "new")
        #expect(try room.text("g") == before)
        #expect(try room.names() == ["f", "g"])
    }

    @Test func accessListsAndAttributesStay() throws {
        let room = try Room()
        try room.file("f", mode: 0o640)
        try room.command("setfacl", ["-m", "u:nobody:r,g:www-data:rw,m::rw", room("f")])
        try room.command("setfattr", ["-n", "user.origin", "-v", "by hand", room("f")])
        try room.command("setfattr", ["-n", "user.empty", room("f")])
        try room.command("setfattr", ["-n", "user.long", "-v", String(repeating: "x", count: 2_000), room("f")])
        func attributes() throws -> [String] {
            [
                try room.command("getfacl", ["-cEp", room("f")]),
                try room.command("getfattr", ["-d", "--absolute-names", room("f")]),
            ]
        }
        let before = try attributes()
        #expect(before[0].contains("user:nobody:r--") && before[1].contains("by hand"))
        try replace(room("f"))
        #expect(try attributes() == before)
        // A configured mode sets the list's mask, as chmod does.
        try replace(room("f"), mode: 0o600)
        #expect(try attributes() == [before[0].replacing("mask::rw-", with: "mask::---"), before[1]])
    }

    @Test func aReadOnlyFileWithAttributesIsReplacedByItsOwner() throws {
        let room = try Room(owner: Room.otherUser)
        try room.file("f", owner: Room.otherUser)
        try room.command("setfattr", ["-n", "user.origin", "-v", "by hand", room("f")])
        try room.command("setfacl", ["-m", "u::r,u:daemon:r", room("f")])
        let path = room("f")
        let naming = naming
        try acting(as: Room.otherIdentity) {
            let file = try AtomicFile(path, as: Room.otherIdentity, limit: Room.limit)
            try file.replace(with: Array("new".utf8), naming: naming)
        }
        #expect(try room.text("f") == "new")
        #expect(try room.status("f").st_uid == Room.otherUser)
        #expect(try room.status("f").st_mode == S_IFREG | 0o440)
        #expect(try room.command("getfattr", ["-d", path]).contains("by hand"))
        #expect(try room.command("getfacl", ["-cEp", path]).contains("user:daemon:r--"))
    }

    /// Whoever made the directory could have meant to read what others write there.
    @Test func aDirectorysDefaultListGivesNoAccess() throws {
        let room = try Room()
        try room.file("f")
        try room.command("setfacl", ["-d", "-m", "u:nobody:r", room("")])
        try replace(room("f"))
        try replace(room("g"), mode: 0o640)
        for (name, mode) in [("f", 0o600), ("g", 0o640)] {
            #expect(try !room.command("getfacl", ["-cEp", room(name)]).contains("nobody"))
            #expect(try room.status(name).st_mode == S_IFREG | mode_t(mode))
        }
    }

    @Test func aDirectoryThatCannotBeListedWillDo() throws {
        let room = try Room(owner: Room.otherUser)
        try room.folder("drop", mode: 0o300, owner: Room.otherUser)
        let path = room("drop/f")
        let naming = naming
        try acting(as: Room.otherIdentity) {
            try AtomicFile(path, as: Room.otherIdentity, limit: Room.limit).replace(
                with: Array("new".utf8), naming: naming)
        }
        #expect(try room.text("drop/f") == "new")
    }

    @Test func largeContentIsWrittenWhole() throws {
        let room = try Room()
        let bytes = (0..<Room.limit).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try AtomicFile(room("f"), as: Room.root, limit: Room.limit).replace(with: bytes, naming: naming)
        #expect(try AtomicFile(room("f"), as: Room.root, limit: Room.limit).content?.bytes == bytes)
        try AtomicFile(room("f"), as: Room.root, limit: Room.limit).replace(with: [], naming: naming)
        #expect(try AtomicFile(room("f"), as: Room.root, limit: Room.limit).content?.bytes == [])
    }
}
