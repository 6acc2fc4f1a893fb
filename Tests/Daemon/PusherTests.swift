import AppleClientSecret
import Failures
import Foundation
import Linux
import Model
import Rotation
import TestSupport
import Testing

@testable import Daemon

/// What the daemon makes of a service that pushes, however that one behaves.
@Suite struct PusherTests {
    private static let signature = String(repeating: "c2lnbmF0dXJl", count: 7)
    private static let text = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3ZWIifQ.\(signature)"
    private let directory: TemporaryDirectory
    private let target: TargetName
    private var path: String { directory("push/production.sock") }
    private var token: Token { Token(Array(Self.text.utf8)) { _ in [UInt8](repeating: 1, count: 32) } }

    init() throws {
        directory = try TemporaryDirectory()
        target = try #require(TargetName("production"))
        try directory.folder("push")
    }

    private func pusher(
        program: String? = nil, configuration: String = "/etc/c.yaml",
        cancel: EventCounter? = nil
    ) -> Pusher {
        Pusher(
            besideSocket: directory("status.sock"), configuration: configuration, program: program,
            identity: .current(), cancel: cancel, patience: 600_000)
    }

    /// Why nothing was pushed.
    private func whatFailed(cancel: EventCounter? = nil) -> Failure? {
        let failure = #expect(throws: Failure.self) { try pusher(cancel: cancel).push(token, to: target) }
        #expect(failure?.place == .target(target))
        return failure
    }

    @Test(arguments: [("true", true), ("false", false), ("null", nil)]) func aPushSaysWhetherItWasSeen(
        _ word: String, _ seen: Bool?
    )
        throws
    {
        let service = try SocketService(at: path, .answer(#"{"result":"published","verified":\#(word)}"#))
        #expect(try pusher().push(token, to: target) == seen)
        #expect(service.question == #"{"do":"publish","client_secret":"\#(Self.text)"}"# + "\n")
    }

    /// Each connection may start a process, and systemd closes a socket at which too many come.
    @Test func aServiceIsConnectedToSoOftenAndNoMore() throws {
        let pusher = pusher()
        var failures: [Failure] = []
        for _ in 0..<31 {
            do throws(Failure) { _ = try pusher.redeploy(target) } catch { failures.append(error) }
        }
        #expect(failures.prefix(30).allSatisfy { $0.code == .pushServiceMissing })
        let last = try #require(failures.last)
        #expect(last.code == .pushServiceSilent)
        let pause = try #require(last.retryAfter?.count)
        #expect((1...60).contains(pause))
        // Other targets have services of their own.
        let other = try #require(TargetName("other"))
        #expect(throws: Failure.self) { try pusher.redeploy(other) }
    }

    @Test func othersOfTheSameDocumentGoWithIt() throws {
        let service = try SocketService(at: path, .answer(#"{"result":"published","verified":true}"#))
        let other = try #require(TargetName("ios"))
        #expect(try pusher().push(token, to: target, with: [other: token]) == true)
        #expect(
            service.question
                == #"{"do":"publish","client_secret":"\#(Self.text)","others":{"ios":"\#(Self.text)"}}"# + "\n")
    }

    @Test(arguments: [("true", true), ("false", false), ("null", nil)])
    func aReadingSaysWhetherItIsThere(_ word: String, _ holds: Bool?) throws {
        let service = try SocketService(at: path, .answer(#"{"result":"read","holds":\#(word)}"#))
        #expect(try pusher().read(token, at: target) == holds)
        #expect(service.question == #"{"do":"read","client_secret":"\#(Self.text)"}"# + "\n")
    }

    @Test func aFailureHasItsCodeAndHowLongToWait() throws {
        _ = try SocketService(
            at: path, .answer(#"{"result":"failed","code":"push_rate_limited","detail":"slowly","retry_after":90}"#))
        let failure = try #require(whatFailed())
        #expect(failure.code == .pushRateLimited)
        #expect(failure.detail == "slowly")
        #expect(failure.retryAfter == 90)
    }

    /// The service reads another file than the daemon, or the same one later.
    @Test(arguments: ["/etc/c.yaml", "/etc/clientsecretd/clientsecretd.yaml"])
    func anUnknownTargetIsPutRightInTheServicesConfiguration(configuration: String) throws {
        _ = try SocketService(
            at: path, .answer(#"{"result":"failed","code":"push_target_unknown","detail":"none","retry_after":null}"#))
        let unknown = #expect(throws: Failure.self) {
            try pusher(configuration: configuration).push(token, to: target)
        }
        #expect(unknown?.code == .pushTargetUnknown)
        let remedy = try #require(unknown?.remedy).description
        #expect(remedy.contains(configuration) || remedy.contains("clientsecretd reload"), "\(remedy)")
    }

    /// With `run --once`, where no service listens.
    @Test func aProgramIsStartedWhereNoServiceListens() throws {
        let asked = directory("asked")
        let script = try directory.write(
            """
            #!/bin/sh
            echo "$*" >\(asked)
            read -r line
            echo "$line" >>\(asked)
            echo '{"result":"published","verified":true}'
            echo noise >&2

            """, to: "network", mode: 0o755)
        #expect(try pusher(program: script).push(token, to: target) == true)
        #expect(
            try directory.read("asked")
                == "push production --config /etc/c.yaml\n" + #"{"do":"publish","client_secret":"\#(Self.text)"}"#
                + "\n")
        let silent = try directory.write(
            "#!/bin/sh\nread -r line\necho it broke >&2\nexit 1\n", to: "silent", mode: 0o755)
        let broken = #expect(throws: Failure.self) { try pusher(program: silent).push(token, to: target) }
        #expect(broken?.code == .pushServiceSilent && broken?.detail == "'it broke'")
        let absent = #expect(throws: Failure.self) { try pusher(program: directory("absent")).push(token, to: target) }
        #expect(absent?.code == .pushServiceMissing)
        #expect(absent?.remedy == .say("install the package clientsecretd-network"))
        // A service is preferred: the token may be readable by it alone.
        let service = try SocketService(at: path, .answer(#"{"result":"published","verified":null}"#))
        #expect(try pusher(program: silent).push(token, to: target) == nil)
        _ = service
    }

    /// The words come from another user's process.
    @Test func aServicesWordsAreShortAndHoldNoSecret() throws {
        let words = String(repeating: "so ", count: 20) + Self.text + String(repeating: " on", count: 400)
        _ = try SocketService(
            at: path,
            .answer(#"{"result":"failed","code":"push_rejected","detail":"\u001b[1m\#(words)","retry_after":null}"#))
        let detail = try #require(whatFailed()?.detail)
        #expect(detail.utf8.count < 400)
        #expect(!detail.contains("\u{1b}"))
        #expect(!detail.contains(Self.signature))
    }

    @Test(arguments: [
        "hello", "{}", #"{"result":"read","holds":true}"#, #"{"result":"failed","code":"disk_full"}"#, "\u{0}",
        #"{"result":"published","verified":true"#,
    ])
    func anythingElseIsNoAnswer(_ answer: String) throws {
        _ = try SocketService(at: path, .answer(answer))
        #expect(whatFailed()?.code == .pushServiceSilent)
    }

    @Test func aDaemonThatStopsDoesNotWait() throws {
        _ = try SocketService(at: path, .hang)
        let cancel = try EventCounter()
        cancel.signal()
        #expect(whatFailed(cancel: cancel)?.cause == ECANCELED)
    }

    @Test func withoutASocketTheServiceIsMissing() throws {
        let failure = try #require(whatFailed())
        #expect(failure.code == .pushServiceMissing)
        #expect(failure.detail == path)
        #expect(failure.remedy?.command == "systemctl enable --now clientsecretd-push@production.socket")
        #expect(pusher().obstacle(to: target) == failure)
        _ = try SocketService(at: path, .hangUp)
        #expect(pusher().obstacle(to: target) == nil)
        _ = whatFailed()
    }
}
