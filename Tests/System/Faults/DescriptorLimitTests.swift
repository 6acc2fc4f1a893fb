import Foundation
import Glibc
import TestSupport
import Testing

/// A daemon that may have few descriptors, or has none left.
@Suite(.waits) struct DescriptorLimitTests {
    /// The processor time that a process has used, in clock ticks of a hundredth of a second.
    private func ticks(_ process: Int32) throws -> Int {
        let fields = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8).split(separator: " ")
        return try #require(Int(fields[13])) + #require(Int(fields[14]))
    }

    /// Connections are refused before they take what the rotation needs.
    @Test func connectionsLeaveTheRotationItsDescriptors() throws {
        let sandbox = try Sandbox(clients: "web")
        try sandbox.start(under: ["prlimit", "--nofile=64:64"])
        let old = try sandbox.published()
        let connections = try (0..<100).map { _ in try StatusConnection(sandbox.socket) }
        try sandbox.makeKey()
        try sandbox.eventually("a secret by the new key") { try sandbox.published() != old }
        try sandbox.claims(of: sandbox.published())
        try sandbox.succeed("inspect", sandbox.directory("out/web.jwt"), "--key", sandbox.key)
        withExtendedLifetime(connections) {}
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
