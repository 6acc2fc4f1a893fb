import Foundation
import Linux
import TestSupport
import Testing

struct ClocksTests {
    @Test func wallTimeIsTheSystemsRoundedDown() {
        let before = Int64(Date().timeIntervalSince1970.rounded(.down))
        let wall = Clocks.wallSeconds()
        #expect((before...Int64(Date().timeIntervalSince1970)).contains(wall))
    }

    @Test func bootTimeIsTheUptimeInMilliseconds() throws {
        // /proc/uptime has hundredths of a second, rounded down.
        let before = try uptime()
        let boot = Clocks.bootMilliseconds()
        #expect((before...(try uptime() + 10)).contains(boot))
    }

    @Test func synchronisedIsWhatTheKernelSays() throws {
        let script = """
            import ctypes
            timex = ctypes.create_string_buffer(512)
            ctypes.CDLL(None).adjtimex(timex)
            print(int.from_bytes(timex.raw[40:44], 'little') & 0x40)
            """
        let unsynchronised = try run(["python3", "-c", script]).output
        #expect(Clocks.kernelSynchronised() == (unsynchronised == "0\n"))
    }

    private func uptime() throws -> Int64 {
        let text = try String(contentsOfFile: "/proc/uptime", encoding: .utf8)
        let seconds = try #require(text.split(separator: " ").first.flatMap { Double($0) })
        return Int64((seconds * 1_000).rounded())
    }
}
