import Foundation
import Glibc
import Linux
import Testing

struct SignalDescriptorTests {
    @Test func signalsBecomeReadableAndHarmless() async {
        await #expect(processExitsWith: .success) {
            // As under nohup, or a parent that ignores its children.
            signal(SIGCHLD, SIG_IGN)
            try SignalDescriptor.blockSignals()
            let signals = try SignalDescriptor()
            #expect(try signals.read().isEmpty)
            // To this thread: the test runner's others do not block them.
            for number in [SIGTERM, SIGHUP, SIGINT, SIGHUP, SIGCHLD] { pthread_kill(pthread_self(), number) }
            let epoll = try Epoll()
            try epoll.add(signals.raw, tag: 0)
            _ = try epoll.wait()
            let read = try signals.read()
            #expect(read.count == 4)
            #expect(Set(read.map(\.signal)) == [.terminate, .hangUp, .interrupt, .childEnded])

            // A signal that comes with a value names any sender (rt_tgsigqueueinfo, by its number on x86-64 or ARM).
            let thread = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            let forger = """
                import ctypes, platform
                number = {"x86_64": 297}.get(platform.machine(), 240)
                info = (ctypes.c_int * 32)(1, 0, -1, 0, 0, 0)
                exit(ctypes.CDLL(None).syscall(number, \(getpid()), \(thread.split(separator: "/").last ?? ""), 1, info))
                """
            let forged = try ChildProcess.run(["/usr/bin/python3", "-c", forger], environment: [:], timeout: 60_000)
            #expect(forged.ending == .exited(0))
            #expect(try signals.read().filter { $0.signal == .hangUp }.map(\.sender) == [nil])

            let report = try ChildProcess.run(["/bin/sh", "-c", "exit 7"], environment: [:], timeout: 60_000)
            #expect(report.ending == .exited(7))

            var ends: [Int32] = [0, 0]
            unsafe pipe(&ends)
            close(ends[0])
            let written = unsafe write(ends[1], "x", 1)
            #expect(written == -1)
            #expect(errno == EPIPE)
        }
    }
}
