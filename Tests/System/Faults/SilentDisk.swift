import Foundation
import TestSupport
import Testing

/// A file system that answers nobody, not even who asks what lies there: one of FUSE's without the program that would
/// answer. Call ``end()`` in a `defer`.
final class SilentDisk {
    let path: String
    private let sandbox: Sandbox
    private var service: Background?

    /// - Parameter isRead: whether its program takes requests and then stops. A thread that waits for one of these ends only with
    ///   the disk, whatever kills it.
    init(_ sandbox: Sandbox, _ name: String = "silent", isRead: Bool = false) throws {
        self.sandbox = sandbox
        path = sandbox.directory(name)
        try sandbox.makeDirectory(name)
        // Whoever hangs is let go when the descriptor is closed, however this process has ended.
        let script = """
            import ctypes, os, select, struct, sys
            libc = ctypes.CDLL(None, use_errno=True)
            device = os.open('/dev/fuse', os.O_RDWR)
            options = f"fd={device},rootmode=40000,user_id=0,group_id=0"
            if libc.mount(b"silent", sys.argv[1].encode(), b"fuse", 0, options.encode()):
                sys.exit(os.strerror(ctypes.get_errno()))
            print("mounted", flush=True)
            while len(sys.argv) > 2 and 0 not in select.select([device, 0], [], [])[0]:
                request = os.read(device, 1 << 17)
                kind, number = struct.unpack("<4xIQ", request[:16])
                if kind == 26:
                    version = struct.pack("<IIII", 7, 31, struct.unpack("<I", request[48:52])[0], 0)
                    body = version + struct.pack("<HHIIHH", 16, 12, 1 << 16, 1, 0, 0)
                    os.write(device, struct.pack("<IiQ", 80, 0, number) + body.ljust(64, b"\\0"))
            sys.stdin.readline()
            libc.umount2(sys.argv[1].encode(), 2)
            """
        service = try Background(["/usr/bin/python3", "-c", script, path] + (isRead ? ["read"] : []), last: "end")
        try #require(service?.firstLine == "mounted")
    }

    func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// Ends the daemon and then this.
    func end() {
        sandbox.stop(SIGKILL)
        service = nil
    }
}
