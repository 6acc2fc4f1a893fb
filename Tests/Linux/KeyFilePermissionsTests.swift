import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Failures
@testable import Linux

/// Who may read a key file, and the command that fixes one that too many may.
@Suite(.needs(.root)) struct KeyFilePermissionsTests {
    private static let daemon = Identity(user: 1, group: 1)

    private func open(_ path: String, as identity: Identity) throws(FileError) {
        _ = try TrustedFile.open(path, for: .key, as: identity, limit: 100)
    }

    @Test func ownersAndTheDaemonsGroupMayRead() throws {
        let room = try Room()
        for (mode, owner, group) in [(0o600, 0, 0), (0o400, 1, 7), (0o640, 0, 1), (0o440, 1, 1)] {
            try room.file("key", mode: mode_t(mode))
            try room.own("key", UInt32(owner), group: UInt32(group))
            try open(room("key"), as: Self.daemon)
        }
        // A group of the daemon's, but not its primary one.
        try room.own("key", 0, group: 2)
        let error = try #require(throws: FileError.self) {
            try open(room("key"), as: Identity(user: 1, group: 1, groups: [2]))
        }
        #expect(error.detail == "the file can be read by the group bin (2)")
    }

    /// A key that an orchestrator mounts for a supplementary group of the process.
    @Test func belowATrustedPlaceOthersMayReadAndNoOtherUserMayWrite() throws {
        let room = try Room()
        try room.folder("keys")
        let trusting = Self.daemon.trusting([FilePath(room("keys"))])
        for (mode, owner) in [(0o440, 0), (0o444, 0), (0o640, 1)] {
            try room.file("keys/key", mode: mode_t(mode))
            try room.own("keys/key", UInt32(owner), group: 2)
            try open(room("keys/key"), as: trusting)
            _ = try #require(throws: FileError.self) { try open(room("keys/key"), as: Self.daemon) }
        }
        for (mode, owner) in [(0o660, 0), (0o440, 65_534)] {
            try room.file("keys/key", mode: mode_t(mode))
            try room.own("keys/key", UInt32(owner), group: 2)
            _ = try #require(throws: FileError.self) { try open(room("keys/key"), as: trusting) }
        }
        // The trusted directory's name as a prefix is not enough.
        try room.file("keys2", mode: 0o440)
        try room.own("keys2", 0, group: 2)
        _ = try #require(throws: FileError.self) { try open(room("keys2"), as: trusting) }
    }

    @Test(arguments: [
        // Readable to this user by its being readable to all: what makes it readable to this user alone gives it away.
        (0o644, 0, 0, "every user can read the file", nil),
        (0o644, 0, 1, "every user can read the file", "chmod 0640 KEY"),
        (0o644, 1, 1, "every user can read the file", "chmod 0600 KEY"),
        (0o640, 1, 2, "the file can be read by the group bin (2)", nil),
        (0o640, 0, 2, "the file can be read by the group bin (2)", nil),
        (0o660, 1, 1, "the file is writable by its group", "chmod 0600 KEY"),
        (0o601, 1, 1, "every user can read the file", "chmod 0600 KEY"),
        (0o600, 65_534, 1, "the file belongs to nobody (65534)", nil),
        (0o644, 65_534, 1, "the file belongs to nobody (65534)", nil),
    ])
    func anyoneElseIsRefused(mode: Int, owner: Int, group: Int, detail: String, remedy: String?) throws {
        let room = try Room()
        try room.file("key", Self.header, mode: mode_t(mode))
        try room.own("key", UInt32(owner), group: UInt32(group))
        let refused = try #require(throws: FileError.self) { try open(room("key"), as: Self.daemon) }
        #expect(refused.code == .notGuarded && refused.path == room("key") && refused.detail == detail)
        #expect(refused.remedy != nil)
        #expect(refused.remedy?.command == remedy?.replacing("KEY", with: room("key")))
        guard let command = refused.remedy?.command else { return }
        // What is no key may be any other file of the machine.
        try room.file("key", "root:*:20000::::::\n", mode: mode_t(mode))
        try room.own("key", UInt32(owner), group: UInt32(group))
        let other = try #require(throws: FileError.self) { try open(room("key"), as: Self.daemon) }
        #expect(other.remedy != nil && other.remedy?.command == nil)
        // The suggested command works.
        try room.command("sh", ["-c", command])
        try open(room("key"), as: Self.daemon)
    }

    /// A key that is right for the service, and a user who is neither root nor the service's.
    @Test func nobodyIsAdvisedToTakeTheServicesKeyFromIt() throws {
        let room = try Room()
        try room.command("chmod", ["755", room("")])
        let service = Account(name: "daemon", id: 1, primaryGroup: 1)
        let caller = Identity(user: 4321, group: 4321).judging(filesOf: service)
        for (mode, owner) in [(0o640, 0), (0o600, 1), (0o600, 0)] {
            try room.file("key", Self.header, mode: mode_t(mode))
            try room.own("key", UInt32(owner), group: 1)
            let path = room("key")
            let refused = try #require(throws: FileError.self) {
                try acting(as: caller) { _ = try TrustedFile.open(path, for: .key, as: caller, limit: 100) }
            }
            #expect(refused.code == .permissionDenied && refused.remedy == .readAsAnotherUser)
        }
        // With the rights of a member of its group, the file is no other users'.
        try room.file("key", Self.header, mode: 0o640)
        try room.own("key", 0, group: 1)
        try open(room("key"), as: caller)
        // The user's own file is.
        try room.file("key", Self.header, mode: 0o644)
        try room.own("key", 4321, group: 4321)
        let own = try #require(throws: FileError.self) { try open(room("key"), as: caller) }
        #expect(own.remedy?.words == "remove the permissions of all other users")
    }

    /// Root does not know whose group it is: it may be that of a daemon that runs as another user.
    @Test func rootTakesNoKeyFromAGroup() throws {
        let room = try Room()
        try room.file("key", Self.header, mode: 0o640)
        try room.own("key", 0, group: 2)
        let refused = try #require(throws: FileError.self) { try open(room("key"), as: .current()) }
        #expect(refused.code == .notGuarded && refused.remedy?.command == nil)
        #expect(
            refused.remedy?.words
                == "copy it to a new file that only root may read, and name that one, because group \"bin\" may need this "
                + "one; if the daemon runs as a user of group \"bin\", run this as that user")
        // What is no key may be any other file of the machine.
        try room.file("key", "root:*:20000::::::\n", mode: 0o640)
        try room.own("key", 0, group: 2)
        let other = try #require(throws: FileError.self) { try open(room("key"), as: .current()) }
        #expect(other.remedy?.words?.hasPrefix("copy it to a new file that only root may read") == true)
        #expect(other.remedy?.command == nil)
    }

    /// A daemon with a configuration of its own may name the key of another one, which reads it by its group.
    @Test func noCommandTakesAKeyFromAnotherProgramsGroup() throws {
        let room = try Room()
        let service = Account(name: "daemon", id: 1, primaryGroup: 1)
        let root = Identity(user: 0, group: 0)
        for (mode, owner) in [(0o640, 1), (0o640, 0), (0o644, 1), (0o644, 0), (0o660, 1)] {
            for identity in [Self.daemon, root, root.judging(filesOf: service)] where owner == 0 || identity != root {
                try room.file("key", Self.header, mode: mode_t(mode))
                try room.own("key", UInt32(owner), group: 2)
                let refused = try #require(throws: FileError.self) { try open(room("key"), as: identity) }
                #expect(refused.code == .notGuarded && refused.remedy?.command == nil)
                let words = refused.remedy?.words ?? ""
                #expect(words.hasPrefix("copy it to a new file that only ") && !words.contains("chmod"), "\(words)")
                #expect(words.contains("because group \"bin\" may need this one"), "\(words)")
            }
        }
    }

    /// A key that the service's configuration does not name is its owner's. It is the service's only if it was prepared for it.
    @Test(arguments: [
        (0o644, 0, true, "chmod 0600 KEY"), (0o644, 1, true, "chmod 0640 KEY"), (0o644, 1, false, "chmod 0640 KEY"),
        (0o600, 0, true, nil), (0o640, 1, true, nil),
    ])
    func aKeyIsGivenToTheServiceOnlyIfItReadsIt(
        mode: Int, group: Int, isUncertain: Bool, remedy: String?
    ) throws {
        let room = try Room()
        let service = Account(name: "daemon", id: 1, primaryGroup: 1)
        let root = Identity(user: 0, group: 0)
        let identity = isUncertain ? root.judging(fileOfPossibly: service) : root.judging(filesOf: service)
        try room.file("key", Self.header, mode: mode_t(mode))
        try room.own("key", 0, group: UInt32(group))
        guard let remedy else { return try open(room("key"), as: identity) }
        let refused = try #require(throws: FileError.self) { try open(room("key"), as: identity) }
        let command = try #require(refused.remedy?.command)
        #expect(command == remedy.replacing("KEY", with: room("key")))
        try room.command("sh", ["-c", command])
        try open(room("key"), as: identity)
        // What root may then use as its own needs no second command.
        if group == 0 { try open(room("key"), as: root) }
    }

    private static let header = "-----BEGIN PRIVATE KEY-----\n"

    @Test func anAccessListThatNamesAReaderIsRefused() throws {
        let room = try Room()
        try room.file("key", Self.header, mode: 0o640)
        try room.own("key", 0, group: 1)
        for (entry, removed, reader) in [
            ("u:nobody:r", "u:65534", "the user nobody (65534)"), ("g:bin:r", "g:2", "the group bin (2)"),
        ] {
            try room.command("setfacl", ["-b", "-m", entry, room("key")])
            #expect(
                throws: FileError(
                    .notGuarded, at: room("key"), detail: "its access list lets \(reader) read it",
                    remedy: .say(
                        "copy it to a new file that only user \"daemon\" may read, and name that one, because \(reader) may "
                            + "need this one"))
            ) { try open(room("key"), as: Self.daemon) }
            try room.command("setfacl", ["-x", removed, room("key")])
            try open(room("key"), as: Self.daemon)
        }
        for entry in ["u:daemon:r", "u:root:r", "g:daemon:r", "u:nobody:-"] {
            try room.command("setfacl", ["-b", "-m", entry, room("key")])
            try open(room("key"), as: Self.daemon)
        }
        // The group's bits of the mode are only the list's mask.
        try room.file("roots", Self.header, mode: 0o600)
        try room.own("roots", 0, group: 0)
        try room.command("setfacl", ["-m", "u:daemon:r", room("roots")])
        try open(room("roots"), as: Self.daemon)
        try room.command("setfacl", ["-m", "u:nobody:w", room("roots")])
        let refused = try #require(throws: FileError.self) { try open(room("roots"), as: Self.daemon) }
        #expect(refused.detail == "its access list lets the user nobody (65534) write to it")
        // Who only writes loses nothing that it reads.
        #expect(
            refused.remedy
                == Remedy(
                    words: "remove them from its access list", command: "setfacl -n -x u:65534 \(room("roots"))"))
    }
}
