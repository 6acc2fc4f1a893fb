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
            let manager = try Manager()
            for (message, text) in [
                (Notify.Message.ready, "READY=1"), (.stopping, "STOPPING=1"), (.watchdog, "WATCHDOG=1"),
                (.failed(errno: 13), "ERRNO=13"),
                (.extendTimeout(milliseconds: 60_000), "EXTEND_TIMEOUT_USEC=60000000"),
                (.status("3 clients, all well – ok"), "STATUS=3 clients, all well – ok"),
                (.status("a\nREADY=1\r\tb\u{0}\u{85}c"), "STATUS=a READY=1  b  c"),
                (.status(String(repeating: "ä", count: 2_000)), "STATUS=" + String(repeating: "ä", count: 1_000)),
            ] {
                #expect(try Notify.send(message))
                #expect(manager.receive() == text)
            }
            #expect(try Notify.send(.ready, .status("up")))
            #expect(manager.receive() == "READY=1\nSTATUS=up")
        }
    }

    @Test func aReloadCarriesItsTime() async {
        await #expect(processExitsWith: .success) {
            let manager = try Manager()
            let before = Clocks.monotonicMicroseconds()
            try Notify.send(.reloading)
            let after = Clocks.monotonicMicroseconds()
            let message = manager.receive()
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

/// The receiving end that systemd names in `NOTIFY_SOCKET`.
private struct Manager {
    private let descriptor: Int32
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        let path = directory("notify")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, size) }
        }
        try #require(bound == 0)
        unsafe setenv("NOTIFY_SOCKET", path, 1)
    }

    func receive() -> String {
        var buffer = [UInt8](repeating: 0, count: 8_192)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }
}
