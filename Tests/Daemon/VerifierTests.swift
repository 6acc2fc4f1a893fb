import AppleClientSecret
import Failures
import Foundation
import Linux
import Outputs
import Rotation
import Synchronization
import TestSupport
import Testing

@testable import Daemon

/// What the daemon makes of the service that asks Apple, however that one behaves.
@Suite struct VerifierTests {
    private static let signature = String(repeating: "c2lnbmF0dXJl", count: 7)
    private static let token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3ZWIifQ.\(signature)"
    private let directory: TemporaryDirectory
    private var path: String { directory("verify.sock") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// What the question comes to; nil: accepted.
    ///
    /// - Parameter patience: in milliseconds; by default longer than any test.
    private func ask(patience: Int64 = 600_000, cancel: EventCounter? = nil) throws -> Failure? {
        let token = Token(Array(Self.token.utf8)) { _ in [UInt8](repeating: 1, count: 32) }
        let issued = SecretInfo(
            fingerprint: token.fingerprint,
            claims: Claims(
                issuer: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID("ABC123DEFG")),
                subject: try #require(ClientID("com.example.web")), issuedAt: WallTime(secondsSinceEpoch: 0),
                expiresAt: WallTime(secondsSinceEpoch: 1)), signer: nil)
        let verifier = Verifier(
            besideSocket: directory("status.sock"), identity: .current(), cancel: cancel, patience: patience)
        let client = try #require(ClientName("web"))
        do throws(Failure) {
            try verifier.verify(Secret(token: token, issued: issued), of: client)
            return nil
        } catch {
            #expect(error.place == .client(client))
            return error
        }
    }

    // MARK: Verdicts

    @Test func anAcceptedSecretIsNoFailure() throws {
        let service = try Service(at: path, .answer(#"{"verdict":"accepted","code":"invalid_grant"}"#))
        #expect(try ask() == nil)
        #expect(
            service.question == #"{"client_id":"com.example.web","client_secret":"\#(Self.token)"}"# + "\n")
    }

    @Test(arguments: [
        (#"{"verdict":"refused","code":"invalid_client","detail":"in its own words"}"#, "invalid_client"),
        (#"{"verdict":"refused","code":null}"#, "refused"),
    ])
    func aRefusalNamesApplesCode(_ answer: String, _ detail: String) throws {
        let service = try Service(at: path, .answer(answer))
        let failure = try #require(try ask())
        #expect(failure.code == .refusedByApple)
        #expect(failure.detail == detail)
        _ = service
    }

    @Test(arguments: [
        (#"{"verdict":"unknown","reason":"timed_out","detail":"it took too long"}"#, "it took too long"),
        (#"{"verdict":"unknown","reason":"redirected","detail":null}"#, "redirected"),
    ])
    func whatIsNotKnownSaysWhy(_ answer: String, _ detail: String) throws {
        let service = try Service(at: path, .answer(answer))
        let failure = try #require(try ask())
        #expect(failure.code == .verdictUnknown)
        #expect(failure.detail == detail)
        _ = service
    }

    /// The words come from another user's process.
    @Test func aServicesWordsAreShortAndHoldNoSecret() throws {
        let words = String(repeating: "so ", count: 20) + Self.token + String(repeating: " on", count: 400)
        let service = try Service(at: path, .answer(#"{"verdict":"unknown","detail":"\u001b[1m\#(words)"}"#))
        let detail = try #require(try ask()?.detail)
        #expect(detail.utf8.count < 400)
        #expect(!detail.contains("\u{1b}"))
        #expect(!detail.contains(Self.signature))
        _ = service
    }

    // MARK: No verdict

    @Test(arguments: [
        "hello", "{}", "[]", #"{"verdict":"perhaps"}"#, #"{"verdict":"accepted"}{"verdict":"accepted"}"#,
        #"{"verdict":"refused","verdict":"accepted"}"#, #"{"verdict":"accepted""#, "\u{0}",
    ])
    func anythingElseIsNoVerdict(_ answer: String) throws {
        let service = try Service(at: path, .answer(answer))
        let failure = try #require(try ask())
        #expect(failure.code == .verifierSilent)
        #expect(failure.detail == "it is no verdict")
        _ = service
    }

    @Test(arguments: [(16_384, true), (16_385, false), (1 << 20, false)])
    func anAnswerHasALimit(_ length: Int, _ isRead: Bool) throws {
        let verdict = #"{"verdict":"accepted"}"#
        let service = try Service(
            at: path, .answer(verdict + String(repeating: " ", count: length - verdict.utf8.count)))
        #expect(try ask()?.code == (isRead ? nil : .verifierSilent))
        _ = service
    }

    /// As systemd does when the limit of connections is reached.
    @Test func aServiceThatClosesAtOnceGivesNoAnswer() throws {
        let service = try Service(at: path, .hangUp)
        let failure = try #require(try ask())
        #expect(failure.code == .verifierSilent)
        #expect(failure.cause == ECONNRESET)
        _ = service
    }

    @Test func aServiceThatSaysNothingIsGivenUp() throws {
        let service = try Service(at: path, .hang)
        let failure = try #require(try ask(patience: 200))
        #expect(failure.code == .verifierSilent)
        #expect(failure.cause == ETIMEDOUT)
        _ = service
    }

    @Test func aDaemonThatStopsDoesNotWait() throws {
        let service = try Service(at: path, .hang)
        let cancel = try EventCounter()
        cancel.signal()
        let failure = try #require(try ask(cancel: cancel))
        #expect(failure.code == .verifierSilent)
        #expect(failure.cause == ECANCELED)
        _ = service
    }

    // MARK: No service

    @Test func withoutASocketTheServiceIsMissing() throws {
        let failure = try #require(try ask())
        #expect(failure.code == .verifierMissing)
        #expect(failure.cause == ENOENT)
        #expect(failure.detail == path)
        #expect(failure.remedy?.command == "systemctl enable --now clientsecretd-verify.socket")
    }

    @Test func aSocketWithoutAListenerIsNoService() throws {
        endListening(try UnixListener(path: path, mode: 0o600).release())
        let failure = try #require(try ask())
        #expect(failure.code == .verifierMissing)
        #expect(failure.cause == ECONNREFUSED)
    }

    @Test(.needsRoot("listens as another user")) func anotherUsersSocketIsGivenNoSecret() throws {
        _ = unsafe chmod(directory.path, 0o777)
        let service = try Service(at: path, .answer(#"{"verdict":"accepted"}"#), as: 23_456)
        let failure = try #require(try ask())
        #expect(failure.code == .verifierMissing)
        #expect(failure.detail == "\(path) is not root's")
        #expect(failure.remedy?.command == "rm \(path)")
        #expect(service.question.isEmpty)
    }
}

/// The service for one connection.
private final class Service: Sendable {
    enum Reply: Sendable {
        case answer(String)
        /// Reads, and says nothing until the other side closes; to one that waits for 20 s it says that Apple accepts.
        case hang
        /// Closes without reading.
        case hangUp
    }

    private let listener: Int32
    private let ended = DispatchSemaphore(value: 0)
    private let asked = Mutex("")

    /// - Parameter user: who begins to listen, for whom the kernel takes the service.
    init(at path: String, _ reply: Reply, as user: UInt32? = nil) throws {
        let listening =
            try user.map { user in
                try ActingUser.perform(as: user, otherwise: { $0 }) { () throws(SystemError) in
                    try UnixListener(path: path, mode: 0o600)
                }
                .release()
            } ?? UnixListener(path: path, mode: 0o600).release()
        // What accepts connections waits for them.
        _ = fcntl(listening, F_SETFL, 0)
        listener = listening
        Thread.detachNewThread { [self] in
            serve(reply)
            ended.signal()
        }
    }

    /// What was asked, once the connection has ended.
    var question: String {
        ended.wait()
        defer { ended.signal() }
        return asked.withLock { $0 }
    }

    private func serve(_ reply: Reply) {
        let descriptor = accept(listener, nil, nil)
        // No other connection comes.
        close(listener)
        guard descriptor >= 0 else { return }
        let connection = UnixStream(adopting: Descriptor(adopting: descriptor))
        if case .hangUp = reply { return }
        var question: [UInt8] = []
        while !question.contains(UInt8(ascii: "\n")), let more = try? connection.read(upTo: 65_536), !more.isEmpty {
            question += more
        }
        asked.withLock { $0 = String(decoding: question, as: UTF8.self) }
        switch reply {
        case .answer(let text): try? connection.write(Array(text.utf8))
        case .hang:
            var events = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&events, 1, 20_000) == 0 { try? connection.write(Array(#"{"verdict":"accepted"}"#.utf8)) }
        case .hangUp: break
        }
    }
}
