import Glibc
import Linux
import Systemd
import TestSupport
import Testing

@testable import Daemon

/// What the clients of systemd's sockets are told when the daemon does not start.
@Suite struct StatusListenerTests {
    @Test func onlyTheStatusSocketSaysWhyTheDaemonDoesNotStart() async {
        await #expect(processExitsWith: .success) {
            alarm(60)
            let directory = try TemporaryDirectory()
            let status = try UnixListener(path: directory("status"), mode: 0o600)
            let metrics = try UnixListener(path: directory("metrics"), mode: 0o600)
            let asker = try asking(directory("status"))
            let scraper = try asking(directory("metrics"))
            try turningAway([status.descriptor.raw, metrics.descriptor.raw], named: "status:metrics")
            let reason = try asker.everything()
            #expect(reason.hasPrefix("HTTP/1.1 503 ") && reason.contains("clients.web") && reason.contains("line 7"))
            let nothing = try scraper.everything()
            #expect(nothing.hasPrefix("HTTP/1.1 503 "))
            #expect(!nothing.contains("clients.web") && !nothing.contains("line 7"), "\(nothing)")
        }
    }
}

private struct Asker: ~Copyable {
    let stream: TimedStream

    func everything() throws -> String {
        String(decoding: try stream.read(exactly: 65_536), as: UTF8.self)
    }
}

/// A client that has asked for the metrics and waits.
private func asking(_ path: String) throws -> Asker {
    let stream = TimedStream(try UnixStream.connect(to: path, timeoutSeconds: 10), milliseconds: 30_000)
    try stream.write(Array("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    return Asker(stream: stream)
}

/// Has a child turn away the clients of these sockets, as systemd passes them; waits until it has ended.
private func turningAway(_ descriptors: [Int32], named names: String) throws {
    let passed = descriptors.map { fcntl($0, F_DUPFD, 100) }
    let child = fork()
    if child == 0 {
        for (descriptor, place) in zip(passed, Int32(3)...) { dup2(descriptor, place) }
        unsafe setenv("LISTEN_PID", String(getpid()), 1)
        unsafe setenv("LISTEN_FDS", String(descriptors.count), 1)
        unsafe setenv("LISTEN_FDNAMES", names, 1)
        guard var sockets = try? PassedSockets() else { _exit(1) }
        StatusListener.refuseWaiting(&sockets, (headline: "clients.web has no key", all: ["line 7 has none"]))
        _exit(0)
    }
    waitpid(child, nil, 0)
}
