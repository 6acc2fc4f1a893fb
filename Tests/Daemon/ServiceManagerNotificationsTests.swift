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
    @Test func aLongStartIsGivenMoreTimeAsLongAsItComesFurther() async {
        await #expect(processExitsWith: .success) {
            let receiver = try NotifyReceiver()
            var manager = ServiceManagerNotifications(log: Log(environment: [:]))
            manager.show(try Self.snapshot(0, of: 10_000), at: Self.after(0))
            #expect(receiver.received() == ["STATUS=publishing 0 of 10,000 secrets\nEXTEND_TIMEOUT_USEC=60000000"])
            // Not more than once a second, and not where nothing has come of it.
            manager.show(try Self.snapshot(1_000, of: 10_000), at: Self.after(999))
            #expect(receiver.received() == [])
            manager.show(try Self.snapshot(3_120, of: 10_000), at: Self.after(1_000))
            #expect(receiver.received() == ["STATUS=publishing 3,120 of 10,000 secrets\nEXTEND_TIMEOUT_USEC=60000000"])
            manager.show(try Self.snapshot(3_120, of: 10_000), at: Self.after(5_000))
            #expect(receiver.received() == [])
            manager.show(try Self.snapshot(2, of: 2, ready: true), at: Self.after(6_000))
            #expect(receiver.received() == ["STATUS=ok: 2 clients\nREADY=1"])
            manager.show(try Self.snapshot(2, of: 2, ready: true), at: Self.after(7_000))
            #expect(receiver.received() == [])
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
            manager.show(try Self.snapshot(1, of: 1, ready: true), at: Self.after(0))
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
            manager.show(try Self.snapshot(1, of: 1, ready: true), at: Self.after(0))
            manager.show(try Self.snapshot(2, of: 2, ready: true), at: Self.after(1_000))
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
            manager.show(try Self.snapshot(1, of: 1, ready: true), at: Self.after(0))
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

    /// Clients of which so many were tried.
    private static func snapshot(_ tried: Int, of count: Int, ready: Bool = false) throws -> Snapshot {
        let start = WallTime(secondsSinceEpoch: 1_800_000_000)
        let clientID = try #require(ClientID("com.example.web"))
        let team = try #require(TeamID("DEF123GHIJ"))
        let keyID = try #require(KeyID("ABC123DEFG"))
        let clients = try (0..<count).map { number in
            ClientView(
                name: try #require(ClientName("client\(number)")), clientID: clientID, team: team, keyID: keyID,
                health: .ok, reason: nil, current: nil, deliveredExpiresAt: nil, renewAt: nil, renewals: 0,
                consecutiveFailures: 0, lastError: number < tried ? "no space" : nil, delivered: false, outputs: [],
                actions: [])
        }
        return Snapshot(
            startedAt: start, ready: ready, health: .ok, reason: nil, clockTrusted: true,
            configuration: ConfigurationView(path: "/c.yaml", loadedAt: start, error: nil), clients: clients)
    }
}
