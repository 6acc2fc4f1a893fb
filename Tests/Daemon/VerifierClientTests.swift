import AppleClientSecret
import Failures
import Foundation
import Linux
import Model
import Outputs
import Rotation
import TestSupport
import Testing

@testable import Daemon

/// What the daemon makes of the service that asks Apple, however that one behaves.
@Suite struct VerifierClientTests {
    private static let signature = String(repeating: "c2lnbmF0dXJl", count: 7)
    private static let token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3ZWIifQ.\(signature)"
    private let directory: TemporaryDirectory
    private var path: String { directory("verify.sock") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// What the request comes to; nil: accepted.
    ///
    /// - Parameter timeout: in milliseconds; by default longer than any test.
    private func ask(
        timeout: Int64 = 600_000, program: String? = nil, cancel: EventCounter? = nil
    ) throws -> Failure? {
        let token = Token(Array(Self.token.utf8)) { _ in [UInt8](repeating: 1, count: 32) }
        let issued = SecretInfo(fingerprint: token.fingerprint, claims: .sample(), signer: nil)
        let verifier = VerifierClient(
            besideSocket: directory("status.sock"), program: program, identity: .current(), cancel: cancel,
            timeout: timeout)
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
        let service = try SocketService(at: path, .answer(#"{"verdict":"accepted","code":"invalid_grant"}"#))
        #expect(try ask() == nil)
        #expect(
            service.request == #"{"client_id":"com.example.web","client_secret":"\#(Self.token)"}"# + "\n")
    }

    /// With `run --once`, where no service listens. A service is preferred: it alone may have the way to Apple.
    @Test func aProgramIsStartedWhereNoServiceListens() throws {
        let script = try directory.write(
            """
            #!/bin/sh
            echo "$*" >\(directory("asked"))
            read -r line
            echo "$line" >>\(directory("asked"))
            echo '{"verdict":"accepted","code":"invalid_grant"}'

            """, to: "network", mode: 0o755)
        #expect(try ask(program: script) == nil)
        #expect(
            try directory.read("asked")
                == "verify\n" + #"{"client_id":"com.example.web","client_secret":"\#(Self.token)"}"# + "\n")
        #expect(try ask(program: directory("absent"))?.code == .verifierMissing)
        _ = try SocketService(at: path, .answer(#"{"verdict":"accepted","code":"invalid_grant"}"#))
        #expect(try ask(program: directory("absent")) == nil)
    }

    @Test(arguments: [
        (#"{"verdict":"refused","code":"invalid_client","detail":"in its own words"}"#, "invalid_client"),
        (#"{"verdict":"refused","code":null}"#, "invalid_client"),
    ])
    func aRefusalNamesApplesCode(_ answer: String, _ detail: String) throws {
        _ = try SocketService(at: path, .answer(answer))
        let failure = try #require(try ask())
        #expect(failure.code == .refusedByApple)
        #expect(failure.detail == detail)
    }

    @Test(arguments: [
        (
            #"{"verdict":"unknown","reason":"timed_out","detail":"it took too long"}"#,
            "the server did not answer in time ('it took too long')"
        ),
        (#"{"verdict":"unknown","reason":"unexpected_answer","detail":"in its words"}"#, "'in its words'"),
        (
            #"{"verdict":"unknown","reason":"unexpected_answer","status":503,"detail":"in its words"}"#,
            "the server answered 503 with something that is not an OAuth error"
        ),
        (
            #"{"verdict":"unknown","reason":"unexpected_answer","status":503,"code":"run this"}"#,
            "the server answered 503 with 'run this'"
        ),
        (
            #"{"verdict":"unknown","reason":"redirected","detail":null}"#,
            "the server redirects, and redirects are not followed"
        ),
        (#"{"verdict":"unknown","reason":"another","detail":null}"#, "another"),
        (#"{"verdict":"unknown"}"#, "the reason is not known"),
    ])
    func anUnknownVerdictSaysWhy(_ answer: String, _ detail: String) throws {
        _ = try SocketService(at: path, .answer(answer))
        let failure = try #require(try ask())
        #expect(failure.code == .verdictUnknown)
        #expect(failure.detail == detail)
    }

    /// The words come from another user's process.
    @Test func aServicesWordsAreShortAndHoldNoSecret() throws {
        let words = String(repeating: "so ", count: 20) + Self.token + String(repeating: " on", count: 400)
        _ = try SocketService(at: path, .answer(#"{"verdict":"unknown","detail":"\u001b[1m\#(words)"}"#))
        let detail = try #require(try ask()?.detail)
        #expect(detail.utf8.count < 400)
        #expect(!detail.contains("\u{1b}"))
        #expect(!detail.contains(Self.signature))
    }

    // MARK: No verdict

    @Test(arguments: [
        "hello", "{}", "[]", #"{"verdict":"perhaps"}"#, #"{"verdict":"accepted"}{"verdict":"accepted"}"#,
        #"{"verdict":"refused","verdict":"accepted"}"#, #"{"verdict":"accepted""#, "\u{0}",
    ])
    func anythingElseIsNoVerdict(_ answer: String) throws {
        _ = try SocketService(at: path, .answer(answer))
        let failure = try #require(try ask())
        #expect(failure.code == .verifierSilent)
        #expect(failure.detail == "its answer is not a verdict")
    }

    @Test(arguments: [(16_384, true), (16_385, false), (1 << 20, false)])
    func anAnswerHasALimit(_ length: Int, _ isRead: Bool) throws {
        let verdict = #"{"verdict":"accepted"}"#
        _ = try SocketService(
            at: path, .answer(verdict + String(repeating: " ", count: length - verdict.utf8.count)))
        #expect(try ask()?.code == (isRead ? nil : .verifierSilent))
    }

    /// Systemd closes at once when the limit of connections is reached.
    @Test func withoutAnAnswerTheServiceIsSilent() throws {
        let stopped = try EventCounter()
        stopped.signal()
        let rows: [(reply: SocketService.Reply, timeout: Int64, cancel: EventCounter?, cause: Int32)] = [
            (.hangUp, 600_000, nil, ECONNRESET), (.hang, 200, nil, ETIMEDOUT), (.hang, 600_000, stopped, ECANCELED),
        ]
        for row in rows {
            _ = try SocketService(at: path, row.reply)
            let failure = try #require(try ask(timeout: row.timeout, cancel: row.cancel))
            #expect(failure.code == .verifierSilent)
            #expect(failure.cause == row.cause)
            try FileManager.default.removeItem(atPath: path)
        }
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
        endListening(try ListeningSocket(path: path, mode: 0o600).descriptor.duplicate().release())
        let failure = try #require(try ask())
        #expect(failure.code == .verifierMissing)
        #expect(failure.cause == ECONNREFUSED)
    }

    @Test(.needs(.root)) func anotherUsersSocketIsGivenNoSecret() throws {
        _ = unsafe chmod(directory.path, 0o777)
        let service = try SocketService(at: path, .answer(#"{"verdict":"accepted"}"#), as: 23_456)
        let failure = try #require(try ask())
        #expect(failure.code == .verifierMissing)
        #expect(failure.detail == "\(path) does not belong to root")
        #expect(failure.remedy == .strangers(path))
        #expect(service.request.isEmpty)
    }
}
