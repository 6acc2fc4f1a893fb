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
            #expect(try signals.read() == [])
            // To this thread: the test runner's others do not block them.
            for number in [SIGTERM, SIGHUP, SIGINT, SIGHUP, SIGCHLD] { pthread_kill(pthread_self(), number) }
            let epoll = try Epoll()
            try epoll.add(signals.raw, tag: 0)
            _ = try epoll.wait()
            let read = try signals.read()
            #expect(read.count == 4)
            #expect(Set(read) == [.terminate, .hangUp, .interrupt, .childEnded])

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
