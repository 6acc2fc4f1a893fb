import Failures
import Foundation
import Linux
import Model
import Outputs
import TestSupport
import Testing

/// What `check` foresees of writing a file.
@Suite(.needs(.root)) struct WriteProbeTests {
    private static let daemon = Identity(user: 64_001, group: 64_001)

    /// The failure's code with a directory of the daemon's that has this group and mode.
    private func code(directory group: Int, mode: Int, file: Int? = nil, wanted: String? = nil) throws -> Failure.Code?
    {
        let scratch = try TemporaryDirectory()
        func give(_ path: String, _ group: Int, _ mode: Int) throws {
            try FileManager.default.setAttributes(
                [.ownerAccountID: Int(Self.daemon.user), .groupOwnerAccountID: group], ofItemAtPath: path)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        if let file {
            try scratch.write("", to: "web.jwt")
            try give(scratch("web.jwt"), file, 0o640)
        }
        try give(scratch.path, group, mode)
        return WriteProbe.failure(
            of: try Samples.file(scratch("web.jwt"), group: wanted), as: Self.daemon)?.code
    }

    @Test func aDirectoryGivesItsGroupWhereItSaysSo() throws {
        #expect(try code(directory: 10_001, mode: 0o2750, file: 10_001) == nil)
        #expect(try code(directory: 10_001, mode: 0o2750, wanted: "10001") == nil)
        #expect(try code(directory: 10_001, mode: 0o750, file: 10_001) == .groupNotPermitted)
        #expect(try code(directory: 10_001, mode: 0o750, wanted: "10001") == .groupNotPermitted)
        #expect(try code(directory: 10_001, mode: 0o2750, file: 10_002) == .groupNotPermitted)
        #expect(try code(directory: 10_001, mode: 0o2750, wanted: "10002") == .groupNotPermitted)
        #expect(try code(directory: 64_001, mode: 0o700, file: 64_001) == nil)
    }

    /// A link is replaced where it leads: in `open` or in `closed`, in which nothing can be renamed.
    @Test(
        arguments: [
            ("closed/roots", nil, nil), ("open/plain", nil, nil), ("open/roots", .isImmutable, "closed"),
            ("open/own", .isImmutable, "closed"),
            // The writer does not follow a link of its own user to what is not that user's.
            ("open/dangling", .untrustedLink, nil),
        ] as [(String, Failure.Code?, String?)])
    func theDirectoryOfALinksTargetCounts(name: String, code: Failure.Code?, place: String?) throws {
        let scratch = try TemporaryDirectory()
        for folder in ["open", "closed"] { try scratch.folder(folder) }
        try scratch.link("closed/roots", to: "../open/web.jwt")
        try scratch.link("open/roots", to: "../closed/web.jwt")
        try scratch.link("open/own", to: "../closed/own.jwt")
        try scratch.link("open/dangling", to: "../closed/none.jwt")
        try scratch.write("", to: "closed/own.jwt")
        let owned = ["open", "open/own", "open/dangling", "closed/own.jwt"].map { scratch($0) }
        try #require(run(["chown", "-h", "\(Self.daemon.user):\(Self.daemon.group)"] + owned).status == 0)
        try #require(run(["chattr", "+i", scratch("closed")]).status == 0)
        defer { _ = try? run(["chattr", "-i", scratch("closed")]) }
        let failure = WriteProbe.failure(of: try Samples.file(scratch(name)), as: Self.daemon)
        #expect(failure?.code == code)
        if let place { #expect(failure?.detail?.hasPrefix(scratch(place) + ":") == true) }
    }

    @Test(arguments: [("+i", "immutable", "-i"), ("+a", "append-only", "-a")])
    func aDirectoryInWhichNothingCanBeRenamedIsNamedWithItsMark(flag: String, word: String, undo: String) throws {
        let scratch = try TemporaryDirectory()
        try scratch.folder("out")
        let directory = scratch("out")
        try #require(run(["chattr", flag, directory]).status == 0)
        defer { _ = try? run(["chattr", undo, directory]) }
        let failure = try #require(WriteProbe.failure(of: try Samples.file(directory + "/web.jwt"), as: .root))
        #expect(failure.code == .isImmutable)
        #expect(
            failure.sentence == "\(directory)/web.jwt: it is immutable or append-only: \(directory): the directory is "
                + "\(word); remove the attribute, if nothing else needs it (chattr \(undo) \(directory))")
    }

    /// In bytes, and in inodes, of which a directory takes the first.
    @Test(arguments: ["size=8k", "size=1m,nr_inodes=2"]) func aFullDiskIsForeseen(options: String) throws {
        let scratch = try TemporaryDirectory()
        try #require(run(["mount", "-t", "tmpfs", "-o", options, "none", scratch.path]).status == 0)
        defer { _ = try? run(["umount", scratch.path]) }
        let file = try Samples.file(scratch("web.jwt"))
        #expect(WriteProbe.failure(of: file, as: .root) == nil)
        try scratch.write(String(repeating: "x", count: 8_192), to: "fill")
        #expect(WriteProbe.failure(of: file, as: .root)?.code == .diskFull)
    }

    /// What ext4 keeps for itself counts as free, and root does not get it either.
    @Test func aDiskThatIsFullForRootTooIsForeseen() throws {
        let scratch = try TemporaryDirectory()
        try scratch.folder("disk")
        let (image, place) = (scratch("image"), scratch("disk"))
        try #require(run(["sh", "-c", "truncate -s 8M '\(image)' && mkfs.ext4 -q '\(image)'"]).status == 0)
        try #require(run(["mount", "-o", "loop", image, place]).status == 0)
        defer { _ = try? run(["umount", place]) }
        let file = try Samples.file(place + "/web.jwt")
        #expect(WriteProbe.failure(of: file, as: .root) == nil)
        _ = try run(["dd", "if=/dev/zero", "of=\(place)/fill", "bs=1k"])
        #expect(WriteProbe.failure(of: file, as: .root)?.code == .diskFull)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place).sorted() == ["fill", "lost+found"])
    }
}
