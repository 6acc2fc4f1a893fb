import Foundation
import TestSupport
import Testing

/// A service manager that does not read what it is told: one that is frozen, or a container's supervisor that has heard
/// all it wanted to hear.
@Suite(.waits) struct UnreadNotifySocketTests {
    @Test func startRenewalAndStopDoNotWaitForAManagerThatDoesNotRead() throws {
        let sandbox = try Sandbox(clients: "web")
        let manager = try NotifySocket(at: sandbox.directory("manager"))
        // It has no room for a word.
        try UnixSocket.fill(manager.path)
        try sandbox.start(environment: ["NOTIFY_SOCKET": manager.path], waiting: false)
        func secret() -> String? { try? sandbox.published() }
        try sandbox.eventually("a secret") { secret() != nil }
        let old = secret()
        try sandbox.succeed("renew")
        #expect(secret() != old)
        kill(try #require(sandbox.processID), SIGTERM)
        try sandbox.eventually("the end", within: 30) { !sandbox.isRunning }
        #expect(sandbox.stop(SIGKILL) == 0)
        withExtendedLifetime(manager) {}
    }
}
