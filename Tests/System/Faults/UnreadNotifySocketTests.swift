import Foundation
import TestSupport
import Testing

/// A service manager that does not read what it is told: one that is frozen, or a container's supervisor that has heard
/// all it wanted to hear.
@Suite(.waits) struct UnreadNotifySocketTests {
    @Test func everythingElseGoesOn() throws {
        let sandbox = try Sandbox(clients: "web")
        let manager = try NotifySocket(at: sandbox.directory("manager"))
        // It has no room for a word.
        try UnixSocket.fill(manager.path)
        try sandbox.start(environment: ["NOTIFY_SOCKET": manager.path], waiting: false)
        func state() throws -> String? { try sandbox.status()["state"] as? String }
        func secret() -> String? { try? sandbox.directory.read("out/web.jwt") }
        try sandbox.eventually("a secret") { secret() != nil }
        for _ in 0..<2 {
            let old = secret()
            // A daemon that is not heard is no reason for a person's command to hang either.
            try #require(try sandbox.command("renew").status == 0)
            #expect(secret() != old)
            try #require(try sandbox.command("reload").status == 0)
            #expect(try state() == "ok")
        }
        let complaint = "the service manager does not read the daemon's messages (NOTIFY_SOCKET=\(manager.path))"
        try sandbox.eventually("the complaint") { try sandbox.log().contains(complaint) }
        #expect(try sandbox.log().matches(of: /the service manager/).count == 1)
        // Who reads late hears how things stand.
        try FileManager.default.removeItem(atPath: sandbox.directory("out"))
        try sandbox.eventually("the damage") { try state() == "critical" }
        try manager.wait(for: "READY=1", while: { sandbox.isRunning })
        #expect(manager.last("STATUS")?.hasPrefix("critical: ") == true)
        try manager.wait(for: "RELOADING=1", while: { sandbox.isRunning })
        try manager.wait(for: "READY=1", while: { sandbox.isRunning })
        kill(try #require(sandbox.processID), SIGTERM)
        try manager.wait(for: "STOPPING=1", while: { sandbox.isRunning })
        try sandbox.eventually("the end", within: 30) { !sandbox.isRunning }
        #expect(sandbox.stop(SIGKILL) == 0)
    }
}
