import Glibc
import Linux
import TestSupport
import Testing

/// What was replaced is there after a power cut: a file system of its own is shut down without its journal, as when the
/// machine loses power, and mounted again.
@Suite(.needsRoot("mounts file systems")) struct PowerCutTests {
    /// FS_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH, then what a restarted machine does.
    private static let cut = """
        import fcntl, os, struct, sys
        descriptor = os.open(sys.argv[1], os.O_RDONLY)
        fcntl.ioctl(descriptor, 0x8004587d, struct.pack("I", 2))
        """

    @Test(arguments: ["old", nil]) func theNewFileOutlivesIt(old: String?) throws {
        let room = try Room()
        try room.file("image", "")
        try room.command("truncate", ["--size=16M", room("image")])
        try room.command("mkfs.ext4", ["-q", room("image")])
        try room.folder("disk")
        try room.mount(["-o", "loop", room("image")], at: "disk")
        if let old { try room.file("disk/f", old) }
        try room.command("sync", ["-f", room("disk")])
        try AtomicFile(room("disk/f"), as: Room.root)
            .replace(with: Array("new".utf8), mode: 0o640, group: 33, naming: TemporaryNames())
        try room.command("/usr/bin/python3", ["-c", Self.cut, room("disk")])
        try room.command("umount", [room("disk")])
        try room.command("mount", ["-o", "loop", room("image"), room("disk")])
        #expect(try room.text("disk/f") == "new")
        #expect(try room.status("disk/f").st_gid == 33)
        #expect(try room.names("disk") == ["f", "lost+found"])
    }
}
