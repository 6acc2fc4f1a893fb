import Failures
import Foundation
import Linux
import Model
import Outputs
import TestSupport
import Testing

/// The `metrics_file` on disk: who may read it, when it is touched, and what it never takes the place of.
@Suite struct MetricsOnDiskTests {
    private let scratch: TemporaryDirectory
    private let reservedPaths = ReservedPaths()
    private let file: MetricsFile

    init() throws {
        scratch = try TemporaryDirectory()
        file = try Samples.metricsFile(scratch("ours.prom"), reservedPaths)
    }

    private func attribute(_ key: FileAttributeKey) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: scratch("ours.prom"))[key] as? Int)
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func everybodyMayReadIt() throws {
        try file.write(bytes("a"))
        #expect(try attribute(.posixPermissions) == 0o644)
        try scratch.write("a", to: "ours.prom", mode: 0o600)
        try file.write(bytes("a"))
        #expect(try attribute(.posixPermissions) == 0o644)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["ours.prom"])
    }

    @Test func itIsNotWrittenWhileItsContentIsTheSame() throws {
        try file.write(bytes("a"))
        let first = try attribute(.systemFileNumber)
        try file.write(bytes("a"))
        #expect(try attribute(.systemFileNumber) == first)
        try file.write(bytes("b"))
        #expect(try scratch.read("ours.prom") == "b")
        #expect(try attribute(.systemFileNumber) != first)
        // Also when somebody else has changed it.
        try scratch.write("c", to: "ours.prom")
        try file.write(bytes("b"))
        #expect(try scratch.read("ours.prom") == "b")
    }

    /// Ten thousand clients take more than an output may.
    @Test func itMayBeLong() throws {
        for byte in [UInt8(ascii: "a"), UInt8(ascii: "b")] {
            let long = [UInt8](repeating: byte, count: 17 << 20)
            try file.write(long)
            #expect(try attribute(.size) == long.count)
        }
        let limit = #expect(throws: Failure.self) { try file.write([UInt8](repeating: 0, count: 65 << 20)) }
        #expect(limit?.code == .metricsFileUnwritable && limit?.message.contains("the file is too large") == true)
    }

    @Test func itTakesThePlaceOfNothingThatTheDaemonReadsOrPublishes() throws {
        try scratch.write("not even a key", to: "key.p8")
        try scratch.write("a", to: "web.jwt")
        reservedPaths.set(
            inputs: [try Samples.path(scratch("key.p8"))], outputs: [try Samples.path(scratch("web.jwt"))], state: nil)
        let publisher = Samples.publisher(reservedPaths)
        _ = try publisher.publish([.whole: try Samples.secret()], in: try Samples.file(scratch("web.jwt")))
        for (target, words) in [
            ("key.p8", "the daemon reads this file"), ("web.jwt", "it is the same file as another output"),
        ] {
            let before = try scratch.read(target)
            try? FileManager.default.removeItem(atPath: scratch("ours.prom"))
            try scratch.link("ours.prom", to: target)
            let failure = #expect(throws: Failure.self) { try file.write(bytes("a")) }
            #expect(failure?.code == .metricsFileUnwritable && failure?.message.contains(words) == true)
            #expect(file.problem() == failure)
            #expect(try scratch.read(target) == before)
        }
    }

    @Test func onlyMetricsOfOursAreRemoved() throws {
        try file.remove()
        try scratch.write("# HELP node_x A.\n", to: "ours.prom")
        try file.remove()
        #expect(try scratch.read("ours.prom") == "# HELP node_x A.\n")
        let failure = #expect(throws: Failure.self) { try file.write(bytes("# HELP clientsecretd_x A.\n")) }
        #expect(failure?.code == .metricsFileUnwritable && file.problem() == failure)
        // It has no format of its own that another one could be written for.
        #expect(failure?.sentence.hasSuffix("; write another path, or remove the file if it is not needed") == true)
        try scratch.write("", to: "ours.prom")
        try file.write(bytes("# HELP clientsecretd_x A.\n"))
        try file.remove()
        #expect(!FileManager.default.fileExists(atPath: scratch("ours.prom")))
    }

    /// The daemon, which meets it, and `check`, which foresees it, name the component that is at fault.
    @Test(.needs(.root)) func aReadOnlyFileSystemIsNamedByBoth() throws {
        try scratch.folder("disk", mode: 0o755)
        let disk = scratch("disk")
        try #require(run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", disk]).status == 0)
        defer { _ = try? run(["umount", disk]) }
        let file = try Samples.metricsFile(disk + "/ours.prom", reservedPaths)
        try file.write(bytes("a"))
        try #require(run(["mount", "-o", "remount,ro", disk]).status == 0)
        let failure = #expect(throws: Failure.self) { try file.write(bytes("b")) }
        #expect(failure == file.problem())
        #expect(
            failure?.remedy?.description
                == "the file system at \(disk) is read-only: mount it writable, or write another path")
    }
}
