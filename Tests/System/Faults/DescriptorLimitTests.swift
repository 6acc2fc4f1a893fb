import Foundation
import Glibc
import TestSupport
import Testing

/// A daemon that has no descriptors left.
@Suite(.waits) struct DescriptorLimitTests {
    /// The processor time that a process has used, in clock ticks of a hundredth of a second.
    private func ticks(_ process: Int32) throws -> Int {
        let fields = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8).split(separator: " ")
        return try #require(Int(fields[13])) + #require(Int(fields[14]))
    }

    @Test func runningOutIsSurvivedWithoutABusyLoop() throws {
        let sandbox = try Sandbox.running("web")
        let process = try #require(sandbox.processID)
        let token = try sandbox.published()
        // A look at the configuration that fails would be tried again after a minute only.
        try sandbox.awaitRest()
        // All that are open lie above it, so that no further one can be opened.
        try sandbox.limitDescriptors(to: 3)
        let connections = try (0..<3).map { _ in try StatusConnection(sandbox.socket) }
        try sandbox.directory.write("rubbish", to: "out/web.jwt")
        // They wait, and so does what is to be repaired; asking for them over and over would take all of this time.
        let before = try ticks(process)
        try sandbox.eventually("a word on it") { try sandbox.log().contains("too many files open") }
        sleep(2)
        let used = try ticks(process) - before
        #expect(used < 20, "\(used) hundredths of a second")
        #expect(try sandbox.published() == "rubbish")
        try sandbox.limitDescriptors(to: 1024)
        try sandbox.eventually("the repair") { try sandbox.published() == token }
        try sandbox.eventually("peace") { try sandbox.status()["state"] as? String == "ok" }
        withExtendedLifetime(connections) {}
        #expect(sandbox.stop() == 0)
    }
}
