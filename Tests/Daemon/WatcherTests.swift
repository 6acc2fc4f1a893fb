import AppleClientSecret
import Foundation
import Linux
import Rotation
import TestSupport
import Testing

@testable import Daemon

@Suite struct WatcherTests {
    @Test func whatGivesNoNoticeThereIsLookedAtOnceAMinute() throws {
        let directory = try TemporaryDirectory()
        let path = try #require(AbsolutePath(directory("app.env")))
        let entry = ClientEntry(
            clientID: try #require(ClientID("com.example.web")), key: try #require(KeyName("apple")),
            lifetime: .maximum, renewBefore: 3600,
            outputs: [Output(path: path, format: .env(variable: "SECRET"), owner: "app")])
        let configuration = Configuration(keys: [:], clients: [try #require(ClientName("web")): entry])
        let found = try Inbox<Watcher.Finding>()
        let watcher = try Watcher(
            configurationFile: nil, pool: WorkerPool(limit: 1), lane: { _ in .settings }, found: found)
        let start = BootTime(milliseconds: 1_000_000)
        watcher.follow(configuration, at: start)
        var findings: [Watcher.Finding] = []
        for _ in 0..<6_000 where findings.isEmpty {
            findings = found.drain()
            usleep(10_000)
        }
        #expect(watcher.absorb(findings, at: start) == [.file(path)])
        // The directory is watched: that is enough, unless its writer sees another one under this name.
        #expect(watcher.wake == nil)
        #expect(watcher.absorb([.notNoticed(path)], at: start) == [])
        #expect(watcher.wake == start + 60)
        #expect(watcher.goRound(at: start + 59) == [])
        #expect(watcher.goRound(at: start + 60) == [.file(path)])
        #expect(watcher.wake == start + 120)
        // What no configuration names is nothing to wake up for.
        let other = try #require(AbsolutePath("/elsewhere/app.env"))
        watcher.follow(configuration, at: start + 60)
        #expect(watcher.wake == nil)
        _ = watcher.absorb([.notNoticed(other)], at: start + 60)
        #expect(watcher.wake == nil)
    }
}
