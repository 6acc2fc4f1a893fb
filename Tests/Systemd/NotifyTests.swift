import Foundation
import Linux
import TestSupport
import Testing

@testable import Systemd

struct NotifyTests {
    @Test func sendsEachMessageAsSystemdReadsIt() async {
        await #expect(processExitsWith: .success) {
            unsafe unsetenv("NOTIFY_SOCKET")
            let absent = try NotifySocket()
            #expect(absent == nil)
            let manager = try NotifyReceiver()
            let socket = try #require(try NotifySocket())
            for (message, text) in [
                (Notify.Message.ready, "READY=1"), (.stopping, "STOPPING=1"), (.watchdog, "WATCHDOG=1"),
                (.reloading(since: 1_234_567), "RELOADING=1\nMONOTONIC_USEC=1234567"),
                (.failed(errno: 13), "ERRNO=13"),
                (.status("3 clients, all well – ok"), "STATUS=3 clients, all well – ok"),
                (.status("a\nREADY=1\r\tb\u{0}\u{85}c"), "STATUS=a READY=1  b  c"),
                (.status(String(repeating: "ä", count: 2_000)), "STATUS=" + String(repeating: "ä", count: 1_000)),
            ] {
                #expect(try socket.send([message]))
                #expect(manager.received() == [text])
            }
            #expect(try socket.send([.ready, .status("up")]))
            #expect(manager.received() == ["READY=1\nSTATUS=up"])
        }
    }

    @Test func theWatchdogsIntervalIsInMilliseconds() async {
        await #expect(processExitsWith: .success) {
            unsafe unsetenv("WATCHDOG_USEC")
            unsafe unsetenv("WATCHDOG_PID")
            #expect(Watchdog.interval() == nil)
            unsafe setenv("WATCHDOG_USEC", "30000000", 1)
            #expect(Watchdog.interval() == 30_000)
            unsafe setenv("WATCHDOG_PID", "1", 1)
            #expect(Watchdog.interval() == nil)
            unsafe setenv("WATCHDOG_PID", String(getpid()), 1)
            #expect(Watchdog.interval() == 30_000)
        }
    }
}
