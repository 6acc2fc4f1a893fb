import Foundation
import TestSupport
import Testing

/// What the daemon says of its process, beside what the kernel says of it.
@Suite(.waits) struct ProcessMetricsTests {
    private static func metrics(_ sandbox: Sandbox) throws -> [Substring: Double] {
        let samples = try sandbox.get("/metrics").body.split(separator: "\n").filter { $0.hasPrefix("process_") }.map {
            $0.split(separator: " ")
        }
        return Dictionary(uniqueKeysWithValues: samples.compactMap { line in Double(line[1]).map { (line[0], $0) } })
    }

    /// Seconds on a processor, pages in memory and threads (proc(5): the fields after the name begin with the third).
    private static func kernel(_ sandbox: Sandbox) throws -> (cpu: Double, pages: Double, threads: Double) {
        let text = try sandbox.text("/proc/\(try #require(sandbox.processID))/stat")
        let fields = text.split(separator: ") ").last?.split(separator: " ").map { Double($0) ?? 0 } ?? []
        return ((fields[11] + fields[12]) / 100, fields[21], fields[17])
    }

    @Test func theyAreTheKernels() throws {
        let sandbox = try Sandbox()
        try sandbox.configure((1...50).map { sandbox.client("c\($0)") }.joined())
        let began = floor(Date().timeIntervalSince1970)
        // The limit that is in force is the lower one.
        try sandbox.start(under: ["prlimit", "--nofile=500:600"])
        let ready = Date().timeIntervalSince1970
        for _ in 0..<3 { try sandbox.succeed("renew") }
        let before = try Self.kernel(sandbox)
        let shown = try Self.metrics(sandbox)
        let after = try Self.kernel(sandbox)
        #expect(
            shown.keys.sorted() == [
                "process_cpu_seconds_total", "process_max_fds", "process_open_fds", "process_resident_memory_bytes",
                "process_start_time_seconds", "process_threads", "process_virtual_memory_bytes",
            ])
        let cpu = try #require(shown["process_cpu_seconds_total"])
        #expect(cpu > 0 && (before.cpu...after.cpu).contains(cpu), "\(before) \(cpu) \(after)")
        #expect((began...ready).contains(try #require(shown["process_start_time_seconds"])))
        let resident = try #require(shown["process_resident_memory_bytes"]) / 4096
        #expect((before.pages * 0.8...after.pages * 1.2).contains(resident), "\(before) \(resident) \(after)")
        #expect(try #require(shown["process_virtual_memory_bytes"]) > resident * 4096)
        #expect((1...max(before.threads, after.threads) + 8).contains(try #require(shown["process_threads"])))
        #expect(shown["process_max_fds"] == 500)
    }

    @Test(.needs(.root)) func everyOpenDescriptorCounts() throws {
        let sandbox = try Sandbox.running("web")
        let descriptors = "/proc/\(try #require(sandbox.processID))/fd"
        try sandbox.eventually("what the kernel says, and the connection by which it is asked for") {
            try Self.metrics(sandbox)["process_open_fds"]
                == Double(FileManager.default.contentsOfDirectory(atPath: descriptors).count + 1)
        }
        let before = try #require(try Self.metrics(sandbox)["process_open_fds"])
        var held: [StatusConnection] = []
        for _ in 0..<5 {
            held.append(try StatusConnection(sandbox.socket))
        }
        // One that the daemon has not come to yet does not count.
        try sandbox.eventually("five more") { try Self.metrics(sandbox)["process_open_fds"] == before + 5 }
        for connection in held { try connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
        try sandbox.eventually("as many as before") { try Self.metrics(sandbox)["process_open_fds"] == before }
    }
}
