import Glibc
import Linux
import TestSupport
import Testing

/// The users who may read a file may read its copy, and no other user.
@Suite(.needs(.root)) struct FileReadersTests {
    /// A file and its directory.
    struct Way: CustomTestStringConvertible, Sendable {
        var mode: mode_t = 0o644
        var group: UInt32 = 33
        /// An entry for setfacl(1).
        var list: String?
        var directoryMode: mode_t = 0o755
        var directoryGroup: UInt32 = 33
        var directoryList: String?
        /// Whether no single list has the readers.
        var isMixed = false

        var testDescription: String {
            "\(String(mode, radix: 8)) \(group) \(list ?? ""), "
                + "\(String(directoryMode, radix: 8)) \(directoryGroup) \(directoryList ?? "")"
        }
    }

    private static let users = [
        Identity(user: 1, group: 33), Identity(user: 2, group: 34), Identity(user: 3, group: 3), Room.otherIdentity,
    ]

    @Test(arguments: [
        Way(), Way(mode: 0o640), Way(mode: 0o600), Way(mode: 0o604), Way(directoryMode: 0o750),
        Way(mode: 0o640, directoryMode: 0o750), Way(directoryMode: 0o710), Way(directoryMode: 0o700),
        Way(mode: 0o640, group: 34, directoryMode: 0o750, isMixed: true),
        Way(mode: 0o640, group: 34, directoryMode: 0o700),
        Way(mode: 0o600, list: "u:1:r"), Way(mode: 0o640, list: "g:34:r,u:3:r"), Way(list: "u:1:-"),
        Way(mode: 0o640, list: "u:1:-"), Way(directoryMode: 0o700, directoryList: "u:2:x"),
        Way(directoryMode: 0o750, directoryList: "g:34:r"),
        Way(mode: 0o640, list: "u:1:r", directoryMode: 0o750, directoryList: "u:1:x"),
        Way(mode: 0o640, list: "u:1:r", directoryMode: 0o750, directoryList: "u:2:x", isMixed: true),
    ])
    func aCopyHasTheReadersOfTheFile(way: Way) throws {
        let room = try Room()
        try room.require(unsafe chmod(room(""), 0o755))
        try room.folder("copies")
        try room.folder("way")
        try room.file("way/f")
        for (name, mode, group, list) in [
            ("way/f", way.mode, way.group, way.list), ("way", way.directoryMode, way.directoryGroup, way.directoryList),
        ] as [(String, mode_t, UInt32, String?)] {
            try room.own(name, 0, group: group)
            try room.require(unsafe chmod(room(name), mode))
            if let list { try room.command("setfacl", ["-m", list, room(name)]) }
        }
        let found = try ["way/f", "way"].map { try #require(FileReaders(of: room($0))) }
        let readers = FileReaders.common(to: found)
        #expect((readers == nil) == way.isMixed)
        guard let readers else { return }
        // Whatever the earlier copy was open to.
        try room.file("copies/f", mode: 0o666)
        try room.command("setfacl", ["-m", "u:nobody:rw", room("copies/f")])
        func isCopied() throws -> Bool {
            try AtomicFile(room("copies/f"), as: Room.root, limit: Room.limit).isReadable(by: readers)
        }
        #expect(try !isCopied())
        try AtomicFile(room("copies/f"), as: Room.root, limit: Room.limit).replace(
            with: Array("new".utf8), for: readers, naming: TemporaryNames())
        #expect(try isCopied())
        let (original, copy) = (room("way/f"), room("copies/f"))
        for user in Self.users {
            let (mayReadOriginal, mayReadCopy, mayWriteCopy) = try acting(as: user) {
                (Self.opens(original, O_RDONLY), Self.opens(copy, O_RDONLY), Self.opens(copy, O_WRONLY))
            }
            #expect(mayReadOriginal == mayReadCopy, "user \(user.user)")
            #expect(!mayWriteCopy, "user \(user.user)")
        }
    }

    private static func opens(_ path: String, _ flags: Int32) -> Bool {
        let raw = unsafe open(path, flags | O_CLOEXEC)
        if raw >= 0 { _ = close(raw) }
        return raw >= 0
    }
}
