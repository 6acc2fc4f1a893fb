import Foundation
import TestSupport
import Testing

/// A file system that answers nobody, not even who asks what lies there: one of FUSE's without the program that would
/// answer. Call ``end()`` in a `defer`, after the daemon was ended.
final class SilentDisk {
    let path: String
    private var service: Background?

    init(_ sandbox: Sandbox) throws {
        path = sandbox.directory("silent")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        // Whoever hangs is let go when the descriptor is closed, however this process has ended.
        let script = """
            import ctypes, os, sys
            libc = ctypes.CDLL(None, use_errno=True)
            options = f"fd={os.open('/dev/fuse', os.O_RDWR)},rootmode=40000,user_id=0,group_id=0"
            if libc.mount(b"silent", sys.argv[1].encode(), b"fuse", 0, options.encode()):
                sys.exit(os.strerror(ctypes.get_errno()))
            print("mounted", flush=True)
            sys.stdin.readline()
            libc.umount2(sys.argv[1].encode(), 2)
            """
        service = try Background(["/usr/bin/python3", "-c", script, path], last: "end")
        try #require(service?.firstLine == "mounted")
    }

    func callAsFunction(_ name: String) -> String { path + "/" + name }

    func end() { service = nil }
}
