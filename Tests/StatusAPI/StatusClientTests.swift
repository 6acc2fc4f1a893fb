import AppleClientSecret
import Foundation
import Linux
import Model
import SystemPackage
import TestSupport
import Testing

@testable import StatusAPI

/// The commands' side, against the real server and against what else may listen at the path.
struct StatusClientTests {
    @Test func asks() throws {
        let snapshot = try Samples.snapshot()
        let issued = try Samples.issued()
        let web = try Samples.name("web")
        let harness = try Harness(show: snapshot) { request in
            request == .reload
                ? .reloaded(unserved: ["a"]) : .renewed([RenewalOutcome(client: web, result: .renewed(issued))])
        }
        #expect(try harness.client.status().json == snapshot.json)
        #expect(try harness.client.reload().unserved == ["a"])
        let renewal = DaemonRequest.Renewal(clients: [web], dueWithin: 60, deliverOnly: true, skipVerify: true)
        let report = try harness.client.renew(renewal)
        #expect(
            report.outcomes == [
                RenewalReport.Outcome(
                    client: "web", result: .renewed, fingerprint: "sha256:0123456789abcdef",
                    issuedAt: issued.issuedAt, expiresAt: issued.expiresAt)
            ])
        _ = try harness.client.renew(DaemonRequest.Renewal())
        #expect(harness.rotation.asked == [.reload, .renew(renewal), .renew(DaemonRequest.Renewal())])
    }

    @Test func refusals() throws {
        let web = try Samples.name("web")
        let harness = try Harness(show: try Samples.snapshot()) { request in
            request == .reload
                ? .refused(diagnostics: ["c.yaml:1:1: error: a"])
                : .renewed([RenewalOutcome(client: web, result: .failed("no space"))])
        }
        let refused = try problem { _ = try harness.client.reload() }
        #expect(refused.status == 422 && refused.diagnostics == ["c.yaml:1:1: error: a"])
        let failed = try problem { _ = try harness.client.renew(DaemonRequest.Renewal(clients: [web])) }
        #expect(failed.outcomes == [RenewalReport.Outcome(client: "web", result: .failed, error: "no space")])
        #expect(
            StatusClientError.answered(failed).description
                == #"1 of 1 clients could not be renewed: client "web": no space"#)
        let unknown = try problem {
            _ = try harness.client.renew(DaemonRequest.Renewal(clients: [try Samples.name("wbe")]))
        }
        #expect(unknown.detail == #"there is no client "wbe" (did you mean "web"?)"#)
    }

    /// The server answers such a client before it has sent anything, and hangs up.
    @Test func turnedAway() throws {
        let harness = try Harness(limits: { $0.connections = 0 }, show: try Samples.snapshot())
        for _ in 0..<300 {
            let refused = try problem { _ = try harness.client.status() }
            #expect(refused.status == 503 && refused.detail == "all 0 connections are taken; try again")
        }
    }

    @Test func aMissingDaemonIsNotReachable() throws {
        let directory = try TemporaryDirectory()
        let client = StatusClient(socket: directory("none.sock"))
        let missing = try failure { _ = try client.status() }
        #expect(missing == .notReachable(socket: directory("none.sock"), cause: .noSuchFileOrDirectory))
        #expect(
            missing.description
                == "no daemon can be reached at \(directory("none.sock")): No such file or directory; is it running? "
                + "(systemctl status clientsecretd.service)")
        let none = directory("none.yaml")
        let unset = StatusClient(socket: directory("none.sock"), configuration: none)
        #expect(
            try failure { _ = try unset.status() }.description
                == "the daemon is not running, because there is no configuration; create one: clientsecretd init")
        try directory.write("", to: "file")
        #expect(
            try failure { _ = try StatusClient(socket: directory("file")).status() }
                == .notReachable(socket: directory("file"), cause: .connectionRefused))
    }

    /// A file without a listener is left by a daemon that was started again without its socket.
    @Test func theReasonIsLookedForIfNothingIsReached() throws {
        let calls = QuietMutex(0)
        let directory = try TemporaryDirectory()
        do {
            let listener = try ListeningSocket(path: directory("left.sock"), mode: 0o600)
            withExtendedLifetime(listener) {}
        }
        for socket in [directory("left.sock"), directory("none.sock")] {
            calls.withLock { $0 = 0 }
            let client = StatusClient(socket: socket, whenUnreached: { calls.withLock { $0 += 1 } })
            let error = try failure { _ = try client.status() }
            guard case .notReachable = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(calls.withLock { $0 } == 1)
        }
    }

    @Test func notPermitted() throws {
        // Root may open everything: asked of the error alone, whose cause the kernel gives others.
        let error = StatusClientError.notPermitted(socket: "/run/x.sock", cause: .permissionDenied)
        #expect(
            error.description
                == "/run/x.sock may not be opened: Permission denied; use sudo, or join the group that owns the socket"
        )
    }

    /// Where everybody may make names, as in a pod's /dev/shm, anybody may have begun to listen.
    @Test(.needs(.root)) func aStrangersSocketIsNotAsked() throws {
        let directory = try TemporaryDirectory()
        let path = directory("sock")
        // The account of the C library's that every Debian has.
        let service = try #require(try Accounts.user(named: "daemon"))
        func listens(_ user: UInt32, in mode: UInt32) throws -> StatusClientError {
            try #require(unsafe chmod(directory.path, 0o1777) == 0)
            let listener = try ThreadUser.perform(
                as: user, otherwise: { $0 },
                { () throws(SystemError) in try ListeningSocket(path: path, mode: 0o666) })
            defer { unsafe unlink(path) }
            try #require(unsafe chmod(directory.path, mode) == 0)
            var timeouts = StatusClient.Timeouts()
            timeouts.get = 1
            defer { _ = listener }
            return try failure {
                _ = try StatusClient(socket: path, timeouts: timeouts, serviceUser: "daemon").status()
            }
        }
        let stranger = try listens(1234, in: 0o1777)
        #expect(stranger == .foreignListener(socket: path, user: 1234))
        #expect(try listens(1234, in: 0o775) == .foreignListener(socket: path, user: 1234))
        // Nobody answers; but they were asked.
        let asked = StatusClientError.timedOut(socket: path, seconds: 1)
        #expect(try listens(0, in: 0o1777) == asked)
        #expect(try listens(service.id, in: 0o1777) == asked)
        #expect(try listens(1234, in: 0o755) == asked, "only root could have put it there")
    }

    @Test func aRequestThatTakesTooLongIsGivenUp() throws {
        var timeouts = StatusClient.Timeouts()
        let harness = try Harness(show: try Samples.snapshot())
        timeouts.post = 3
        let busy = try failure { _ = try StatusClient(socket: harness.socket, timeouts: timeouts).reload() }
        #expect(busy == .timedOut(socket: harness.socket, seconds: 3))
        #expect(
            busy.description
                == "the daemon at \(harness.socket) has not answered within 3 s; look at its log (journalctl -u clientsecretd)"
        )
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Le", "it hung up in the middle of its answer"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{", "it hung up in the middle of its answer"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{} ", "bytes follow its answer"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "it is not HTTP"),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "it is not HTTP/1.1"),
        ("HTTP/1.1 99 No\r\nContent-Length: 0\r\n\r\n", "it is not HTTP/1.1"),
        ("\r\n\r\n", "it is not HTTP/1.1"),
        ("HTTP/1.1 200 OK\r\n\r\n", "it does not say how long its answer is"),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "its length makes no sense"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "its length makes no sense"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", "its length makes no sense"),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "a line of its head has no colon"),
        ("HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 9000), "its head does not end"),
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "status 404 without a reason"),
    ])
    func foreignServers(answer: String, what: String) throws {
        let directory = try TemporaryDirectory()
        let server = try ForeignServer(at: directory("sock"), saying: answer)
        let error = try failure { _ = try StatusClient(socket: directory("sock")).status() }
        #expect(error == .notHTTP(socket: directory("sock"), what: what))
        #expect(
            error.description
                == "the program at \(directory("sock")) does not answer like clientsecretd: \(what); "
                + "name the daemon's socket with --socket")
        server.join()
    }

    /// Killed for lack of memory, say: it was the right socket.
    @Test func aDaemonThatEndsBeforeItAnswersIsNamed() throws {
        let directory = try TemporaryDirectory()
        let server = try ForeignServer(at: directory("sock"), saying: "")
        let error = try failure { _ = try StatusClient(socket: directory("sock")).status() }
        #expect(error == .ended(socket: directory("sock")))
        #expect(
            error.description
                == "the daemon at \(directory("sock")) has ended, or was ended, before it answered; "
                + "look at its log (journalctl -u clientsecretd)")
        server.join()
    }

    private func failure(_ body: () throws -> Void) throws -> StatusClientError {
        try #require(throws: StatusClientError.self) { try body() }
    }

    private func problem(_ body: () throws -> Void) throws -> Problem {
        let error = try failure(body)
        guard case .answered(let problem) = error else { throw error }
        return problem
    }
}

/// Something else that listens at a path: says its piece to the first who comes, and hangs up.
private final class ForeignServer: Sendable {
    private let finished = DispatchSemaphore(value: 0)

    init(at path: String, saying text: String) throws {
        let listener = try listen(at: path)
        let finished = finished
        Thread {
            defer { finished.signal() }
            guard Descriptor.ready([listener.raw], atMost: 30_000) == [true] else { return }
            do {
                guard let connection = try listener.accept() else { return }
                let stream = UnixStream(adopting: connection, milliseconds: 30_000)
                _ = try stream.read(upTo: 4096)
                try stream.write(Array(text.utf8))
            } catch {
                // Whoever has asked is gone.
                return
            }
        }.start()
    }

    func join() {
        finished.wait()
    }
}
