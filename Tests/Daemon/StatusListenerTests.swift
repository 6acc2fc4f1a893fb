import Failures
import Glibc
import Linux
import Model
import Rotation
import StatusAPI
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
            let status = try ListeningSocket(path: directory("status"), mode: 0o600)
            let metrics = try ListeningSocket(path: directory("metrics"), mode: 0o600)
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

    /// Else systemd would start the daemon once for each, and close the socket for good after so many starts.
    @Test func aDaemonThatDoesNotStartAnswersConnectionsSoonAfterTheFirst() async {
        await #expect(processExitsWith: .success) {
            alarm(60)
            let directory = try TemporaryDirectory()
            let status = try ListeningSocket(path: directory("status"), mode: 0o600)
            let first = try asking(directory("status"))
            let child = startTurningAway(
                [status.descriptor.raw], named: "status", until: Deadline(in: 60_000))
            #expect(try first.everything().hasPrefix("HTTP/1.1 503 "))
            for _ in 0..<20 {
                let next = try asking(directory("status"))
                #expect(try next.everything().contains("clients.web"))
            }
            kill(child, SIGKILL)
            waitpid(child, nil, 0)
            // Where nobody waits it ends at once.
            waitpid(
                startTurningAway(
                    [status.descriptor.raw], named: "status", until: Deadline(in: 3_600_000)), nil, 0)
        }
    }

    /// Any user who may open the socket could keep a daemon that cannot start from ending.
    @Test func clientsThatKeepOnConnectingAreNotAnsweredForEver() async {
        await #expect(processExitsWith: .success) {
            alarm(60)
            let directory = try TemporaryDirectory()
            let path = directory("status")
            let status = try ListeningSocket(path: path, mode: 0o600)
            let crowd = (0..<8).map { _ -> Int32 in
                let child = fork()
                if child == 0 { connectForEver(path) }
                return child
            }
            defer {
                for child in crowd {
                    kill(child, SIGKILL)
                    waitpid(child, nil, 0)
                }
            }
            #expect(Descriptor.ready([status.descriptor.raw], atMost: 10_000) == [true])
            try turningAway([status.descriptor.raw], named: "status")
        }
    }

    /// A client would wait for ever at a socket at which nobody answers.
    @Test func aMetricsSocketThatCannotBeUsedLeavesNoStatusSocketBehind() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let reachable = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #expect(listen(reachable, 1) == 0)
            let child = inChild([reachable], named: "metrics") { sockets in
                do throws(Failure) {
                    _ = try StatusListener(
                        passed: nil, metrics: try sockets.take("metrics", at: nil, failing: .socketUnusable),
                        path: directory("status"),
                        control: ControlPermission(daemonUser: 0), handle: { _, _, _ in })
                    return false
                } catch {
                    return unsafe access(directory("status"), F_OK) != 0
                }
            }
            var status: Int32 = 0
            unsafe waitpid(child, &status, 0)
            #expect(status == 0)
        }
    }
}

private struct Asker: ~Copyable {
    let stream: UnixStream

    func everything() throws -> String {
        String(decoding: try stream.read(exactly: 65_536), as: UTF8.self)
    }
}

/// A client that has asked for the metrics and waits.
private func asking(_ path: String) throws -> Asker {
    let stream = try UnixStream(connectingTo: path, timeoutSeconds: 10, milliseconds: 30_000)
    try stream.write(Array("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    return Asker(stream: stream)
}

/// Connects again and again, without waiting for an answer.
private func connectForEver(_ path: String) -> Never {
    alarm(120)
    while true {
        do {
            let stream = try UnixStream(connectingTo: path, timeoutSeconds: 10, milliseconds: 0)
            try stream.write([0])
        } catch {}
    }
}

/// Has a child turn away the clients of these sockets; returns its number.
private func startTurningAway(_ descriptors: [Int32], named names: String, until startPause: Deadline) -> Int32 {
    inChild(descriptors, named: names) { sockets in
        StatusListener.refuseWaiting(
            at: &sockets, (headline: "clients.web has no key", all: ["line 7 has none"]), until: startPause)
        return true
    }
}

/// Does something in a child to which these sockets are passed as systemd passes them; returns its number.
private func inChild(_ descriptors: [Int32], named names: String, _ body: (inout PassedSockets) -> Bool) -> Int32 {
    let passed = descriptors.map { fcntl($0, F_DUPFD, 100) }
    let child = fork()
    if child == 0 {
        for (descriptor, place) in zip(passed, Int32(3)...) { dup2(descriptor, place) }
        unsafe setenv("LISTEN_PID", String(getpid()), 1)
        unsafe setenv("LISTEN_FDS", String(descriptors.count), 1)
        unsafe setenv("LISTEN_FDNAMES", names, 1)
        guard var sockets = try? PassedSockets() else { _exit(1) }
        _exit(body(&sockets) ? 0 : 1)
    }
    return child
}

/// Has a child turn away the clients of these sockets, and waits until it has ended.
private func turningAway(_ descriptors: [Int32], named names: String) throws {
    waitpid(startTurningAway(descriptors, named: names, until: Deadline(in: 0)), nil, 0)
}
