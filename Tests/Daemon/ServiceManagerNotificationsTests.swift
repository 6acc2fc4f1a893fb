import AppleClientSecret
import Failures
import Foundation
import Linux
import Model
import Rotation
import TestSupport
import Testing

@testable import Daemon

/// What the service manager is told, and when.
@Suite struct ServiceManagerNotificationsTests {
    /// Systemd is told when every client was tried, and from then on each new state once.
    @Test func theStateIsSentOnceEachClientWasTried() async {
        await #expect(processExitsWith: .success) {
            let receiver = try NotifyReceiver()
            var manager = ServiceManagerNotifications(log: Log(environment: [:]))
            manager.show(try Self.snapshot(2, isReady: false))
            #expect(receiver.received() == [])
            for _ in 1...2 { manager.show(try Self.snapshot(2)) }
            #expect(receiver.received() == ["STATUS=ok: 2 clients\nREADY=1"])
        }
    }

    @Test func aReloadAlwaysEndsWithReady() async {
        await #expect(processExitsWith: .success) {
            let receiver = try NotifyReceiver()
            var manager = ServiceManagerNotifications(log: Log(environment: [:]))
            // Before the service is up it is not said to reload: READY would say that it is.
            manager.reload(isGoingOn: true)
            manager.reload(isGoingOn: false)
            #expect(receiver.received() == [])
            manager.show(try Self.snapshot(1))
            _ = receiver.received()
            manager.reload(isGoingOn: true)
            manager.reload(isGoingOn: true)
            #expect(receiver.received().map { $0.prefix(27) } == ["RELOADING=1\nMONOTONIC_USEC="])
            manager.reload(isGoingOn: false)
            manager.reload(isGoingOn: false)
            #expect(receiver.received() == ["READY=1"])
            // Nor is it ready once it stops.
            manager.reload(isGoingOn: true)
            manager.stop()
            manager.reload(isGoingOn: false)
            #expect(receiver.received().last == "STOPPING=1")
        }
    }

    @Test func theWatchdogIsFedByTheLoopAtHalfItsTime() async {
        await #expect(processExitsWith: .success) {
            let receiver = try NotifyReceiver()
            unsafe unsetenv("WATCHDOG_USEC")
            var unwatched = ServiceManagerNotifications(log: Log(environment: [:]))
            #expect(unwatched.alive(at: Self.after(0)) == nil)
            unsafe setenv("WATCHDOG_USEC", "3000000", 1)
            unsafe unsetenv("WATCHDOG_PID")
            var manager = ServiceManagerNotifications(log: Log(environment: [:]))
            #expect(manager.alive(at: Self.after(0)) == Self.after(1_500))
            #expect(receiver.received() == ["WATCHDOG=1"])
            #expect(manager.alive(at: Self.after(1_499)) == Self.after(1_500))
            #expect(receiver.received() == [])
            #expect(manager.alive(at: Self.after(2_000)) == Self.after(3_500))
            #expect(receiver.received() == ["WATCHDOG=1"])
        }
    }

    @Test func anEndIsExplained() async {
        await #expect(processExitsWith: .success) {
            let receiver = try NotifyReceiver()
            ServiceManagerNotifications(log: Log(environment: [:])).fail("cannot run: no memory", errno: 12)
            #expect(receiver.received() == ["STATUS=cannot run: no memory\nERRNO=12"])
        }
    }

    @Test func aManagerThatIsGoneIsComplainedOfOnce() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let log = try unsafe open(directory.write("", to: "log"), O_WRONLY | O_APPEND)
            #expect(dup2(log, STDERR_FILENO) == STDERR_FILENO)
            unsafe setenv("NOTIFY_SOCKET", directory("nobody"), 1)
            var manager = ServiceManagerNotifications(log: Log(environment: [:]))
            manager.show(try Self.snapshot(1))
            manager.show(try Self.snapshot(2))
            manager.stop()
            let lines = try directory.read("log").split(separator: "\n")
            #expect(lines.count == 1)
            #expect(lines.first?.hasPrefix("the service manager cannot be notified: ") == true)
        }
    }

    @Test func aReloadIsNotifiedWithTheTimeThatItBegan() async {
        await #expect(processExitsWith: .success) {
            let receiver = try NotifyReceiver()
            var manager = ServiceManagerNotifications(log: Log(environment: [:]))
            manager.show(try Self.snapshot(1))
            try receiver.fill()
            let before = Clocks.monotonicMicroseconds()
            manager.reload(isGoingOn: true)
            let after = Clocks.monotonicMicroseconds()
            _ = receiver.received()
            usleep(1_000)
            manager.sendQueued()
            let time = try #require(receiver.received().first?.split(separator: "=").last.flatMap { Int64($0) })
            #expect((before...after).contains(time))
        }
    }

    /// The watchdog may not wait for the ping after it.
    @Test func aPingThatFindsNoRoomIsMadeUpFor() async {
        await #expect(processExitsWith: .success) {
            let receiver = try NotifyReceiver()
            unsafe setenv("WATCHDOG_USEC", "3000000", 1)
            unsafe unsetenv("WATCHDOG_PID")
            var manager = ServiceManagerNotifications(log: Log(environment: [:]))
            try receiver.fill()
            #expect(manager.alive(at: Self.after(0)) == Self.after(1_500))
            #expect(manager.alive(at: Self.after(1_500)) == Self.after(3_000))
            #expect(manager.full == manager.raw && manager.full != nil)
            #expect(receiver.received() == [])
            manager.sendQueued()
            #expect(receiver.received() == ["WATCHDOG=1"])
            #expect(manager.full == nil)
            #expect(manager.alive(at: Self.after(3_000)) == Self.after(4_500))
            #expect(receiver.received() == ["WATCHDOG=1"])
        }
    }

    private static func after(_ milliseconds: Int64) -> BootTime {
        BootTime(milliseconds: 1_000_000 + milliseconds)
    }

    /// - Parameter isReady: whether every client was tried.
    private static func snapshot(_ count: Int, isReady: Bool = true) throws -> Snapshot {
        let start = WallTime(secondsSinceEpoch: 1_800_000_000)
        let clientID = try #require(ClientID("com.example.web"))
        let team = try #require(TeamID("DEF123GHIJ"))
        let keyID = try #require(KeyID("ABC123DEFG"))
        let clients = try (0..<count).map { number in
            ClientView(
                name: try #require(ClientName("client\(number)")), clientID: clientID, team: team, keyID: keyID,
                health: .ok, reason: nil, current: nil, deliveredExpiresAt: nil, renewAt: nil, renewals: 0,
                consecutiveFailures: 0, lastError: nil, delivered: false, outputs: [], actions: [])
        }
        return Snapshot(
            startedAt: start, ready: isReady, health: .ok, reason: nil, clockTrusted: true,
            configuration: ConfigurationView(path: "/c.yaml", loadedAt: start, error: nil), clients: clients)
    }
}
