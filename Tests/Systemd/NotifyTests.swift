import Foundation
import Linux
import TestSupport
import Testing

@testable import Systemd

struct NotifyTests {
    @Test func saysNothingWhereNobodyAsked() async {
        await #expect(processExitsWith: .success) {
            unsafe unsetenv("NOTIFY_SOCKET")
            let sent = try Notify.send(.ready)
            #expect(!sent)
        }
    }

    @Test func sendsEachMessageAsSystemdReadsIt() async {
        await #expect(processExitsWith: .success) {
            let manager = try NotifyReceiver()
            for (message, text) in [
                (Notify.Message.ready, "READY=1"), (.stopping, "STOPPING=1"), (.watchdog, "WATCHDOG=1"),
                (.failed(errno: 13), "ERRNO=13"),
                (.extendTimeout(milliseconds: 60_000), "EXTEND_TIMEOUT_USEC=60000000"),
                (.status("3 clients, all well – ok"), "STATUS=3 clients, all well – ok"),
                (.status("a\nREADY=1\r\tb\u{0}\u{85}c"), "STATUS=a READY=1  b  c"),
                (.status(String(repeating: "ä", count: 2_000)), "STATUS=" + String(repeating: "ä", count: 1_000)),
            ] {
                #expect(try Notify.send(message))
                #expect(manager.received() == [text])
            }
            #expect(try Notify.send(.ready, .status("up")))
            #expect(manager.received() == ["READY=1\nSTATUS=up"])
        }
    }

    @Test func aReloadCarriesItsTime() async {
        await #expect(processExitsWith: .success) {
            let manager = try NotifyReceiver()
            let before = Clocks.monotonicMicroseconds()
            try Notify.send(.reloading)
            let after = Clocks.monotonicMicroseconds()
            let message = try #require(manager.received().last)
            #expect(message.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
            let time = try #require(Int64(message.dropFirst("RELOADING=1\nMONOTONIC_USEC=".count)))
            #expect((before...after).contains(time))
        }
    }

    @Test func saysWhyItCouldNotBeSent() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1)
            let error = #expect(throws: SystemError.self) { try Notify.send(.ready) }
            #expect(error?.description == "cannot notify systemd: No such file or directory")
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
