import Foundation
import Linux
import Testing

struct TimersTests {
    @Test func wallTimerFiresForMomentsThatHavePassed() throws {
        let timer = try WallTimer()
        #expect(try timer.read() == nil)
        for moment in [Int64.min, -1, 0, 1, Clocks.wallSeconds()] {
            try timer.arm(at: moment)
            try wait(for: timer.raw)
            #expect(try timer.read() == .fired)
            #expect(try timer.read() == nil)
        }
        try timer.arm(at: .max)
        #expect(try timer.read() == nil)
        // TFD_TIMER_ABSTIME and TFD_TIMER_CANCEL_ON_SET: a clock that is set ends the wait.
        let info = try String(contentsOfFile: "/proc/self/fdinfo/\(timer.raw)", encoding: .utf8)
        #expect(info.contains("settime flags: 03\n"))
    }

    @Test func bootTimerFiresOnceAndCanBeDisarmed() throws {
        let timer = try BootTimer()
        for delay in [Int64.min, 0, 1, 20] {
            try timer.arm(after: delay)
            try wait(for: timer.raw)
            #expect(try timer.read())
            #expect(try !timer.read())
        }
        try timer.arm(after: 1)
        try timer.arm(after: nil)
        let kernel = try String(contentsOfFile: "/proc/self/fdinfo/\(timer.raw)", encoding: .utf8)
        #expect(kernel.contains("it_value: (0, 0)"))
        // CLOCK_BOOTTIME, relative.
        #expect(kernel.contains("clockid: 7\n"))
        #expect(kernel.contains("settime flags: 00\n"))
        try timer.arm(after: .max)
        #expect(try !timer.read())
    }

    private func wait(for descriptor: Int32) throws {
        let epoll = try Epoll()
        try epoll.add(descriptor, tag: 0)
        _ = try epoll.wait()
    }
}
