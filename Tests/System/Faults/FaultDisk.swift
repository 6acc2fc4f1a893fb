import Foundation
import TestSupport
import Testing

/// A file system of a test's own, mounted in its sandbox. Call ``end()`` in a `defer`.
final class FaultDisk {
    let path: String
    private let sandbox: Sandbox
    private let image: String?
    private var freezer: Background?

    /// Some kilobytes in memory.
    init(inMemory sandbox: Sandbox, kilobytes: Int) throws {
        self.sandbox = sandbox
        path = sandbox.directory("disk")
        image = nil
        try sandbox.makeDirectory("disk")
        try runToSuccess(["mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k,mode=0700", "tmpfs", path])
    }

    /// An ext4 of 16 MiB in a file.
    init(ext4 sandbox: Sandbox) throws {
        self.sandbox = sandbox
        path = sandbox.directory("disk")
        let image = try sandbox.directory.write("", to: "image")
        self.image = image
        try sandbox.makeDirectory("disk")
        try runToSuccess(["truncate", "--size=16M", image])
        try runToSuccess(["mkfs.ext4", "-q", image])
        try mount()
        try sandbox.permit(path, 0o700)
    }

    func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// Takes all the room that is left.
    func fill() throws {
        // Ends with "no space left on device".
        _ = try run(["dd", "if=/dev/zero", "of=\(self("filler"))", "bs=1k"])
    }

    func unfill() throws { try FileManager.default.removeItem(atPath: self("filler")) }

    /// Lets everybody who writes hang. The freezer thaws when this process is gone, however it ended.
    func freeze() throws {
        let script = "fsfreeze -f \"$1\" && echo frozen; read -r _; fsfreeze -u \"$1\" && echo thawed"
        let freezer = try Background(["sh", "-c", script, "sh", path], last: "thaw")
        self.freezer = freezer
        #expect(freezer.firstLine == "frozen")
    }

    func thaw() throws {
        guard let freezer else { return }
        self.freezer = nil
        try freezer.write("thaw")
        try #require(String(decoding: freezer.nextLine(), as: UTF8.self) == "thawed")
    }

    /// The power goes: FS_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH. What was not synced is lost; whoever writes
    /// gets an error.
    func cutPower() throws {
        let script = """
            import fcntl, os, struct, sys
            fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack("I", 2))
            """
        try runToSuccess(["/usr/bin/python3", "-c", script, path])
    }

    /// What a machine does that has its power back; nobody may have files open on it.
    ///
    /// A bed that starts has a copy of every mount for a moment, and while it has, mounting the image again would give the
    /// file system that has lost its power.
    func restart() throws {
        try runToSuccess(["umount", path])
        let image = try #require(image)
        try sandbox.eventually("the last copy of the mount was gone") {
            try run(["losetup", "--associated", image]).output.isEmpty
        }
        try mount()
    }

    private func mount() throws {
        try runToSuccess(["mount", "-o", "loop", try #require(image), path])
    }

    /// Ends the daemon and unmounts, whatever state the test was left in.
    func end() {
        do {
            try thaw()
            sandbox.stop(SIGKILL)
            try runToSuccess(["umount", path])
        } catch {
            Issue.record("\(path) was not unmounted at once: \(error)")
            _ = try? run(["umount", "--lazy", path])
        }
    }
}
