import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Failures
@testable import Linux

/// A file that cannot be replaced gets its own error and stays as it was, with nothing left beside it.
@Suite(.needs(.root)) struct AtomicFileRefusalTests {
    private let naming = TemporaryNames()

    private func replace(
        _ path: String, group: UInt32? = nil, bytes: [UInt8] = Array("new".utf8), as identity: Identity = Room.root
    ) throws(FileError) {
        try AtomicFile(path, as: identity, limit: Room.limit).replace(with: bytes, group: group, naming: naming)
    }

    /// The error of a replacement by a user without any privilege.
    private func refusal(_ path: String, group: UInt32? = nil) throws -> FileError {
        try acting(as: Room.otherIdentity) { [self] in
            try #require(throws: FileError.self) { try replace(path, group: group, as: Room.otherIdentity) }
        }
    }

    @Test func aFileOfAnotherOwnerIsNeverTaken() throws {
        let room = try Room()
        try room.file("f", mode: 0o666, owner: Room.otherUser)
        #expect(
            throws: FileError(
                .foreignOwner, at: room("f"), detail: "the file belongs to nobody (65534)", owner: "nobody")
        ) { try replace(room("f")) }
        #expect(try room.status("f").st_uid == Room.otherUser)
        let other = try Room(owner: Room.otherUser)
        try other.file("f", mode: 0o644)
        #expect(
            try refusal(other("f"))
                == FileError(
                    .foreignOwner, at: other("f"), detail: "the file belongs to root (0)", owner: "root"))
        #expect(try other.text("f") == "old")
    }

    @Test func onlyAnOwnFileIsOverwritten() throws {
        let room = try Room()
        try room.file("f", owner: Room.otherUser)
        try room.folder("folder")
        for name in ["f", "folder"] {
            #expect(throws: FileError.self) {
                try AtomicFile.overwrite(
                    room(name), with: Array("new".utf8), mode: 0o600, limit: Room.limit, as: Room.root, naming: naming)
            }
        }
        #expect(try room.text("f") == "old")
        #expect(try room.names() == ["f", "folder"])
    }

    @Test func anythingButAFileIsRefused() throws {
        let room = try Room()
        try room.folder("folder")
        try room.fifo("fifo")
        try room.folder("mounted")
        try room.mount(["-t", "tmpfs", "-o", "size=64k,mode=755", "tmpfs"], at: "mounted")
        try room.file("bound")
        try room.file("other")
        try room.mount(["--bind", room("other")], at: "bound")
        #expect(throws: FileError(.isDirectory, at: room("folder"))) { try replace(room("folder")) }
        #expect(throws: FileError(.notARegularFile, at: room("fifo"), detail: "FIFO")) { try replace(room("fifo")) }
        #expect(throws: FileError(.isMountPoint, at: room("mounted"))) { try replace(room("mounted")) }
        #expect(throws: FileError(.isMountPoint, at: room("bound"))) { try replace(room("bound")) }
        try room.file("large", String(repeating: "x", count: Room.limit + 1))
        #expect(
            throws: FileError(
                .fileTooLarge, at: room("large"), detail: "1048577 bytes are more than the 1048576 allowed")
        ) { try replace(room("large")) }
        #expect(try room.names() == ["bound", "fifo", "folder", "large", "mounted", "other"])
    }

    @Test func anUnchangeableFileIsRefusedBeforeAnythingIsMade() throws {
        let room = try Room()
        for (flag, detail, undo) in [("+i", nil, "-i"), ("+a", "append-only", "-a")] {
            let file = "f\(flag)"
            let folder = "d\(flag)"
            try room.file(file)
            try room.folder(folder)
            try room.flag(flag, file)
            try room.flag(flag, folder)
            #expect(
                throws: FileError(
                    .isImmutable, at: room(file), detail: detail,
                    remedy: Remedy(words: Self.marked, command: "chattr \(undo) \(room(file))"))
            ) { try replace(room(file)) }
            #expect(
                throws: FileError(
                    .isImmutable, at: room(folder), detail: "the directory is \(detail ?? "immutable")",
                    remedy: .say("\(Self.marked) (chattr \(undo) \(room(folder)))"))
            ) { try replace(room("\(folder)/f")) }
            #expect(try room.names(folder) == [])
        }
    }

    /// Its directory's owner could put something else at the path, so no command names that.
    @Test(arguments: ["i", "a"]) func anUnchangeableFileOfAnotherUserNamesTheTool(mark: String) throws {
        let room = try Room(owner: Room.otherUser)
        try room.file("f", owner: Room.otherUser)
        try room.flag("+" + mark, "f")
        let error = try refusal(room("f"))
        #expect(error.code == .isImmutable)
        #expect(error.remedy == .say("remove the attribute with chattr -\(mark), as root, if nothing else needs it"))
    }

    private static let marked = "remove the attribute, if nothing else needs it"

    @Test func aReadOnlyFileSystemIsCalledSo() throws {
        let room = try Room()
        try room.folder("here")
        try room.file("here/f")
        try room.mount(["-o", "bind,ro", room("here")], at: "here")
        #expect(throws: FileError(.readOnlyFileSystem, at: room("here"), errno: .readOnlyFileSystem)) {
            try replace(room("here/f"))
        }
        #expect(try room.text("here/f") == "old")
        #expect(try room.names("here") == ["f"])
    }

    @Test func withoutTheRightToWriteTheDirectoryIsNamed() throws {
        let room = try Room()
        try room.command("chmod", ["755", room("")])
        #expect(try refusal(room("f")) == FileError(.permissionDenied, at: room(""), errno: .permissionDenied))
        #expect(try room.names() == [])
    }

    @Test func aGroupThatTheUserIsNotInIsRefused() throws {
        let room = try Room(owner: Room.otherUser)
        try room.file("f", owner: Room.otherUser)
        let expected = FileError(
            .groupNotPermitted, at: room("f"), errno: .notPermitted, detail: "www-data (33)",
            remedy: Owner.joining(group: "www-data", user: Room.otherUser))
        #expect(try refusal(room("f"), group: 33) == expected)
        try room.own("f", Room.otherUser, group: 33)
        #expect(try refusal(room("f")) == expected)
        #expect(try room.text("f") == "old")
        #expect(try room.names() == ["f"])
    }

    @Test func anAttributeThatCannotBeKeptStopsIt() throws {
        let room = try Room(owner: Room.otherUser)
        try room.file("f", owner: Room.otherUser)
        // Only root may set this label, unless a security module gives it to new files.
        try room.command("setfattr", ["-n", "security.SMACK64", "-v", "label", room("f")])
        #expect(
            try refusal(room("f"))
                == FileError(.attributesNotKept, at: room("f"), errno: .notPermitted, detail: "security.SMACK64"))
        #expect(try room.text("f") == "old")
        #expect(try room.names() == ["f"])
        try room.own("f", 0)
        try room.own("", 0)
        try replace(room("f"))
        #expect(try room.command("getfattr", ["-n", "security.SMACK64", room("f")]).contains("label"))
    }

    @Test func everyErrorOfTheSystemHasItsKind() {
        let kinds: [(Errno, FailureCode)] = [
            (.diskQuotaExceeded, .quotaExceeded), (.noSpace, .diskFull), (.ioError, .ioError),
            (.staleNFSFileHandle, .ioError), (.tooManyOpenFiles, .outOfDescriptors),
            (.tooManyOpenFilesInSystem, .outOfDescriptors), (.noMemory, .outOfMemory),
            (.resourceBusy, .isMountPoint), (.notPermitted, .permissionDenied), (.badAddress, .systemError),
        ]
        for (errno, kind) in kinds {
            #expect(FileError(of: errno, at: "/f") == FileError(kind, at: "/f", errno: errno))
        }
    }
}
