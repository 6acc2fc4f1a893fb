import AppleClientSecret
import Foundation
import Linux
import Model
import Outputs
import Rotation
import TestSupport
import Testing

@testable import Daemon

/// The credential socket's server with limits that a test can reach. The tests ask as root, as systemd does.
@Suite(.needs(.root)) struct CredentialServerTests {
    private static let token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3ZWIifQ.c2lnbmF0dXJl"

    /// A server with the clients `web`, for `web.service`, and `late`, for `late.service`.
    private final class Place {
        let directory: TemporaryDirectory
        let server: CredentialServer
        let secretCache = SecretCache()
        var path: String { directory("socket") }

        init(_ limits: CredentialLimits = CredentialLimits()) throws {
            directory = try TemporaryDirectory()
            server = try CredentialServer(
                try .serving(["web": "web.service", "late": "late.service"]), secretCache: secretCache,
                log: Log(environment: [:]), limits: limits)
            try server.start(try ListeningSocket(path: directory("socket"), mode: 0o600))
        }

        deinit {
            server.stop()
        }

        func issue() throws -> SecretInfo {
            let token = Token(Array(CredentialServerTests.token.utf8)) { _ in [UInt8](repeating: 1, count: 32) }
            let issued = SecretInfo(fingerprint: token.fingerprint, claims: .sample(), signer: nil)
            secretCache.put(Secret(token: token, issued: issued))
            return issued
        }

        func serve(_ name: String) throws {
            server.serve([ServedSecret(client: try #require(ClientName(name)), secret: try issue())])
        }

        func ask(_ name: String) throws -> CredentialAsker {
            try CredentialAsker(at: path, unit: "\(name).service")
        }
    }

    @Test func aRequestThatWaitsForTooLongIsRefused() throws {
        var limits = CredentialLimits()
        limits.timeout = 300
        let place = try Place(limits)
        #expect(try place.ask("web").answer() == .refusal)
        try place.serve("web")
        #expect(try place.ask("web").answer() == .secret(Self.token))
    }

    @Test func aRequestThatWaitsWhenTheClientGoesIsRefused() throws {
        let place = try Place()
        let (web, late) = (try place.ask("web"), try place.ask("late"))
        place.server.adopt(try .serving(["late": "late.service"]))
        #expect(try web.answer() == .refusal)
        try place.serve("late")
        #expect(try late.answer() == .secret(Self.token))
    }

    @Test func aRequestThatWaitsWhenTheDaemonStopsIsRefused() throws {
        let place = try Place()
        let askers = try (0..<20).map { _ in try place.ask("web") }
        // They are accepted in order: who is answered at once came after them.
        #expect(try CredentialAsker(at: place.path, unit: "web.service", credential: "other").answer() == .refusal)
        let server = place.server
        Thread.detachNewThread { server.stop() }
        for asker in askers { #expect(try asker.answer() == .refusal) }
    }

    /// A refusal is larger than what a socket takes at once, and its beginning would pass for a credential.
    @Test func aRefusalIsWholeHoweverLateItIsRead() throws {
        var limits = CredentialLimits()
        limits.readingTime = 0
        let place = try Place(limits)
        try place.serve("web")
        let late = try (0..<12).map { _ in try place.ask("unknown") }
        #expect(try place.ask("web").answer() == .secret(Self.token))
        for asker in late { #expect(try asker.answer() == .refusal) }
    }

    /// A stop has to be over in time; what is not read by then goes on while the process does.
    @Test(.timeLimit(.minutes(1))) func aStopWaitsForAReaderUntilItsMomentAtMost() throws {
        var limits = CredentialLimits()
        limits.stopTime = 600_000
        let place = try Place(limits)
        try place.serve("web")
        let late = try place.ask("unknown")
        #expect(try place.ask("web").answer() == .secret(Self.token))
        place.server.stop(by: BootTime(milliseconds: Clocks.bootMilliseconds()))
        #expect(try late.answer() == .refusal)
    }

    @Test func aReaderThatGoesAwayMakesRoom() throws {
        var limits = CredentialLimits()
        limits.connections = 4
        let place = try Place(limits)
        try place.serve("web")
        for _ in 0..<10 { _ = try (0..<4).map { _ in try place.ask("late") } }
        #expect(try place.ask("web").answer() == .secret(Self.token))
    }

    /// Another user connects as systemd does, and does not read.
    @Test func otherUsersGetNothingOfASecretAndDelayNoUnit() throws {
        let place = try Place()
        try place.serve("web")
        for path in [place.directory.path, place.path] { _ = unsafe chmod(path, 0o777) }
        let others = try Background([
            "setpriv", "--reuid=23456", "--regid=23456", "--clear-groups", "/usr/bin/python3", "-c", Self.others,
            place.path,
        ])
        #expect(others.firstLine == "asked")
        for _ in 0..<5 { #expect(try place.ask("web").answer() == .secret(Self.token)) }
        try others.write("go on")
        let told = String(decoding: try others.nextLine(), as: UTF8.self)
        // More than the limit of connections; each got an answer, and none more of a secret than a refusal has.
        #expect(told == "200 answers, 0 empty, 0 with a secret")
    }

    private static let others = """
        import os, socket, sys
        ends = []
        for number in range(200):
            end = socket.socket(socket.AF_UNIX)
            end.bind(f"\\0{os.getpid():08x}{number:08x}/unit/web.service/secret")
            end.connect(sys.argv[1])
            end.shutdown(socket.SHUT_WR)
            ends.append(end)
        print("asked", flush=True)
        sys.stdin.readline()
        answers = []
        for end in ends:
            answer = b""
            while (part := end.recv(1 << 20)): answer += part
            answers.append(answer)
        empty = sum(not answer for answer in answers)
        print(f"{len(answers)} answers, {empty} empty, {sum(b'eyJ' in answer for answer in answers)} with a secret", flush=True)
        """

    /// However it ends: closing without a byte would start the unit with nothing.
    @Test func aConnectionThatIsLetGoIsRefused() throws {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        _ = CredentialConnection(Descriptor(adopting: ends[0]), deadline: Deadline(in: 0))
        var byte: UInt8 = 0
        #expect(unsafe recv(ends[1], &byte, 1, 0) == 1)
        close(ends[1])
    }

    /// The next process gets systemd's copy, and may have a secret for it by then.
    @Test func aRefusalThatWasBegunIsFinishedByTheNextProcess() throws {
        let place = try Place()
        let listener = try ListeningSocket(path: place.directory("other"), mode: 0o600)
        let asker = try CredentialAsker(at: place.directory("other"), unit: "web.service")
        guard let accepted = try listener.accept() else {
            Issue.record("nobody has connected")
            return
        }
        let copy = try accepted.duplicate()
        do {
            let first = CredentialConnection(accepted, deadline: Deadline(in: 0))
            first.begin(.refusal, deadline: Deadline(in: 0))
            #expect(first.push())
        }
        let next = try CredentialServer(
            try .serving(["web": "web.service"]), secretCache: place.secretCache, log: Log(environment: [:]))
        next.serve([ServedSecret(client: try #require(ClientName("web")), secret: try place.issue())])
        next.inherit(copy)
        try next.start(try ListeningSocket(path: place.directory("third"), mode: 0o600))
        #expect(try asker.answer() == .refusal)
        next.stop()
    }
}
