import Failures
import Foundation
import Glibc
import Linux
import Synchronization
import TestSupport
import Testing

/// A replaced file survives a power cut: the test shuts down a file system of its own without its journal, as when the
/// machine loses power, and mounts it again.
@Suite(.waits, .needs(.root)) struct PowerCutTests {
    private final class Written: Sendable {
        let names = Mutex<[String]>([])
    }

    /// FS_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH.
    private static let cut = """
        import fcntl, os, struct, sys
        descriptor = os.open(sys.argv[1], os.O_RDONLY)
        fcntl.ioctl(descriptor, 0x8004587d, struct.pack("I", 2))
        """

    /// Seconds that writers get for what usually takes one.
    private static let timeout = 60.0

    private func roomWithDisk() throws -> Room {
        let room = try Room()
        try room.file("image", "")
        try room.command("truncate", ["--size=16M", room("image")])
        try room.command("mkfs.ext4", ["-q", room("image")])
        try room.folder("disk")
        try room.mount(["-o", "loop", room("image")], at: "disk")
        return room
    }

    /// Of many files written at once into one directory, each that was reported as written survives.
    @Test func everyFileThatWasReportedAsWrittenOutlivesIt() throws {
        let room = try roomWithDisk()
        let naming = TemporaryNames()
        let written = Written()
        let hasBegun = DispatchSemaphore(value: 0)
        let path = room("disk")
        let threads = 8
        let done = DispatchSemaphore(value: 0)
        for thread in 0..<threads {
            Thread.detachNewThread {
                defer { done.signal() }
                for number in 0..<1_000 {
                    let name = "\(thread)-\(number)"
                    do throws(FileError) {
                        try AtomicFile(path + "/" + name, as: Room.root, limit: Room.limit)
                            .replace(with: Array(name.utf8), naming: naming)
                    } catch {
                        // The power was cut; or nothing can be written at all, which the count below shows.
                        hasBegun.signal()
                        return
                    }
                    written.names.withLock { $0.append(name) }
                    if number == 10 { hasBegun.signal() }
                }
            }
        }
        for _ in 0..<threads {
            try #require(hasBegun.wait(timeout: .now() + Self.timeout) == .success, "a thread waits for ever")
        }
        try room.command("/usr/bin/python3", ["-c", Self.cut, room("disk")])
        for _ in 0..<threads {
            try #require(done.wait(timeout: .now() + Self.timeout) == .success, "a thread waits for ever")
        }
        try room.command("umount", [room("disk")])
        try room.command("mount", ["-o", "loop", room("image"), room("disk")])
        let names = written.names.withLock { $0 }
        #expect(names.count > threads * 10)
        for name in names { #expect(try room.text("disk/" + name) == name) }
    }
}
