import AppleClientSecret
import Failures
import Foundation
import Linux
import Model
import Rotation
import Synchronization
import TestSupport
import Testing

@testable import Daemon

/// What the daemon makes of a service that pushes, however that one behaves.
@Suite struct PusherTests {
    private static let signature = String(repeating: "c2lnbmF0dXJl", count: 7)
    private static let text = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3ZWIifQ.\(signature)"
    private let directory: TemporaryDirectory
    private let target: TargetName
    private var output: PushOutput { PushOutput(target: target, place: "here") }
    private var path: String { directory("push/production.sock") }
    private var token: Token { Token(Array(Self.text.utf8)) { _ in [UInt8](repeating: 1, count: 32) } }

    init() throws {
        directory = try TemporaryDirectory()
        target = try #require(TargetName("production"))
        try directory.folder("push")
    }

    private func pusher(program: String? = nil, configuration: String = "/etc/c.yaml") -> Pusher {
        Pusher(
            besideSocket: directory("status.sock"), configuration: configuration, program: program,
            identity: .current(), cancel: nil, timeout: 600_000)
    }

    /// Why nothing was pushed.
    private func whatFailed() -> Failure? {
        let failure = #expect(throws: Failure.self) { try pusher().push(token, to: output) }
        #expect(failure?.place == .target(target))
        return failure
    }

    @Test(arguments: [("true", true), ("false", false), ("null", nil)]) func aPushSaysWhetherItWasSeen(
        _ word: String, _ seen: Bool?
    )
        throws
    {
        let service = try SocketService(at: path, .answer(#"{"result":"published","verified":\#(word)}"#))
        #expect(try pusher().push(token, to: output) == .pushed(PushPlaceReading(holds: seen)))
        #expect(service.request == #"{"do":"publish","client_secret":"\#(Self.text)"}"# + "\n")
    }

    /// Each connection may start a process, and systemd closes a socket at which too many come.
    @Test func aServiceIsConnectedToSoOftenAndNoMore() throws {
        let pusher = pusher()
        var failures: [Failure] = []
        for _ in 0..<31 {
            do throws(Failure) {
                _ = try pusher.redeploy("shop", of: [target], with: [])
            } catch {
                failures.append(error)
            }
        }
        #expect(failures.prefix(30).allSatisfy { $0.code == .pushServiceMissing })
        let last = try #require(failures.last)
        #expect(last.code == .pushServiceSilent)
        let pause = try #require(last.retryAfter?.count)
        #expect((1...60).contains(pause))
        // Other targets have services of their own.
        let other = try #require(TargetName("other"))
        #expect(throws: Failure.self) { try pusher.redeploy("shop", of: [other], with: []) }
    }

    /// A service that is asked once, and what it was asked.
    private func request(
        _ answer: String, of target: TargetName? = nil, _ ask: () throws -> Void
    ) throws -> String {
        let path = directory("push/\(target ?? self.target).sock")
        try? FileManager.default.removeItem(atPath: path)
        let service = try SocketService(at: path, .answer(answer))
        try ask()
        return service.request
    }

    /// What an API shows may be older.
    @Test func writesAreRemembered() throws {
        let pusher = pusher()
        let written = #"{"result":"published","verified":false,"written_at":1800000000}"#
        let first = try request(written) { _ = try pusher.push(token, to: output) }
        #expect(!first.contains("written_at"))
        let second = try request(written) { _ = try pusher.push(token, to: output) }
        #expect(second.contains(#""written_at":1800000000"#))
        // A reload has changed where the target leads.
        let elsewhere = PushOutput(target: target, place: "elsewhere")
        let third = try request(written) { _ = try pusher.push(token, to: elsewhere) }
        #expect(!third.contains("written_at"))
    }

    /// It may have been carried out, and the next read may be from before it.
    @Test func aWriteWithoutAnAnswerIsRememberedToo() throws {
        let pusher = pusher()
        let failed = #"{"result":"failed","code":"push_timed_out","detail":null,"retry_after":null"#
        for (end, isRemembered) in [("}", false), (#","written_at":1800000000}"#, true)] {
            _ = try request(failed + end) {
                let failure = #expect(throws: Failure.self) { try pusher.push(token, to: output) }
                #expect(failure?.code == .pushTimedOut)
            }
            let next = try request(failed + "}") { _ = try? pusher.push(token, to: output) }
            #expect(next.contains(#""written_at":1800000000"#) == isRemembered)
        }
    }

    @Test func aTargetThatIsNoLongerConfiguredIsForgotten() throws {
        let memory = PushMemory()
        let moment = WallTime(secondsSinceEpoch: 1_800_000_000)
        memory.wrote(token.fingerprint, to: output, with: [:], at: moment)
        memory.keepOnly([target: "here"], projects: [])
        #expect(memory.lastWrite(to: output, with: [TargetName]()) == moment)
        memory.keepOnly([:], projects: [])
        #expect(memory.lastWrite(to: output, with: [TargetName]()) == nil)
    }

    /// The service's own file may have been edited since.
    @Test func aRequestSaysWhereItsTargetsLead() throws {
        let pusher = pusher()
        let other = try #require(TargetName("other"))
        let unused = try #require(TargetName("unused"))
        let entry = ClientConfiguration(
            clientID: try #require(ClientID("com.example.web")), key: try #require(KeyName("apple")),
            lifetime: .maximum, renewBefore: 3600, outputs: [],
            targets: [output, PushOutput(target: other, place: "there"), PushOutput(target: unused, place: "nowhere")])
        pusher.keepOnly(Configuration(keys: [:], clients: [try #require(ClientName("web")): entry]))
        let pushed = try request(#"{"result":"published","verified":null}"#) {
            _ = try pusher.push(token, to: output, with: [other: token])
        }
        #expect(pushed.contains(#""places":{"other":"there","production":"here"}"#), "\(pushed)")
        let deployed = try request(#"{"result":"redeployed","ready":true}"#) {
            _ = try pusher.redeploy("shop", of: [target], with: [])
        }
        #expect(deployed == #"{"do":"redeploy","places":{"production":"here"}}"# + "\n")
    }

    @Test func aDocumentIsWrittenForAllOfItsTargets() throws {
        let pusher = pusher()
        let other = try #require(TargetName("other"))
        let written = #"{"result":"published","verified":false,"written_at":1800000000}"#
        _ = try request(written) { _ = try pusher.push(token, to: output, with: [other: token]) }
        let next = try request(written, of: other) {
            _ = try pusher.push(token, to: PushOutput(target: other, place: "there"), with: [target: token])
        }
        #expect(next.contains(#""written_at":1800000000"#))
    }

    /// The list of an API may show it later.
    @Test func aDeploymentIsBegunOnceForAllTargetsOfAProject() throws {
        let pusher = pusher()
        let other = try #require(TargetName("other"))
        let began = #"{"result":"redeployed","ready":false,"deployment":{"id":"dpl_1","at":1800000007}}"#
        func redeploy() throws -> [String] {
            var asked: [String] = []
            let service = try SocketService(at: directory("push/other.sock"), .answer(began))
            asked.append(try request(began) { _ = try pusher.redeploy("shop", of: [target, other], with: []) })
            asked.append(service.request)
            try FileManager.default.removeItem(atPath: directory("push/other.sock"))
            return asked
        }
        let known = #""deployment":{"id":"dpl_1","at":1800000007}"#
        for expected in [[false, true], [true, true]] {
            let asked = try redeploy()
            #expect(asked.map { $0.contains(known) } == expected)
        }
        // Of another project it says nothing.
        let elsewhere = try request(began) { _ = try pusher.redeploy("blog", of: [target], with: []) }
        #expect(!elsewhere.contains(known))
    }

    /// The token, minted then.
    private func secret(_ mintedAt: Int64) throws -> SecretInfo {
        let start = WallTime(secondsSinceEpoch: mintedAt) - Claims.backdating
        return SecretInfo(
            fingerprint: token.fingerprint,
            claims: Claims(
                issuer: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID("ABC123DEFG")),
                subject: try #require(ClientID("com.example.web")), issuedAt: start, expiresAt: start + 7_776_000),
            signer: nil)
    }

    /// What was begun before a push does not have it.
    @Test func aDeploymentFromBeforeAWriteIsForgotten() throws {
        let pusher = pusher()
        let began = #"{"result":"redeployed","ready":true,"deployment":{"id":"dpl_1","at":1700000007}}"#
        let first = try request(began) {
            _ = try pusher.redeploy("shop", of: [target], with: [try secret(1_700_000_000)])
        }
        // After a restart nothing more is known of the write than that its secret was there, and not by which clock.
        #expect(first == #"{"do":"redeploy","written_at":1699999940}"# + "\n")
        let written = #"{"result":"published","verified":null,"written_at":1800000000}"#
        _ = try request(written) { _ = try pusher.push(token, to: output) }
        let second = try request(began) {
            _ = try pusher.redeploy("shop", of: [target], with: [try secret(1_700_000_000)])
        }
        #expect(second == #"{"do":"redeploy","written_at":1800000000}"# + "\n")
    }

    /// Before, the API may still show the deployment that served until then.
    @Test func aReadMayCallAnotherDeploymentOldFiveMinutesAfterOneWasSeenToServe() throws {
        let time = Mutex<Int64>(0)
        let pusher = Pusher(
            besideSocket: directory("status.sock"), configuration: "/etc/c.yaml", identity: .current(), cancel: nil,
            timeout: 600_000, clock: { time.withLock { $0 } })
        let secret = try secret(1_700_000_000)
        func isDeployed() throws -> Bool {
            try request(#"{"result":"read","holds":null}"#) { _ = try pusher.read(token, of: secret, at: target) }
                .contains(#""deployed":true"#)
        }
        func redeploy(isReady: Bool) throws {
            _ = try request(#"{"result":"redeployed","ready":\#(isReady)}"#) {
                _ = try pusher.redeploy("shop", of: [target], with: [secret])
            }
        }
        let written = #"{"result":"published","verified":null,"written_at":1800000000}"#
        for start in [0, 1_000_000] as [Int64] {
            time.withLock { $0 = start }
            _ = try request(written) { _ = try pusher.push(token, to: output) }
            try redeploy(isReady: false)
            time.withLock { $0 = start + 400_000 }
            #expect(try !isDeployed())
            try redeploy(isReady: true)
            time.withLock { $0 += 299_999 }
            #expect(try !isDeployed())
            time.withLock { $0 += 1 }
            #expect(try isDeployed())
        }
    }

    @Test(arguments: [("true", true), ("false", false), ("null", nil)])
    func aReadingSaysWhetherItIsThere(_ word: String, _ holds: Bool?) throws {
        let service = try SocketService(at: path, .answer(#"{"result":"read","holds":\#(word)}"#))
        let reading = try pusher().read(token, of: try secret(1_700_000_000), at: target)
        #expect(reading == .targetRead(PushPlaceReading(holds: holds)))
        // So a deployment from before the push is recognised, also after a restart.
        #expect(
            service.request == #"{"do":"read","client_secret":"\#(Self.text)","written_at":1699999940}"# + "\n")
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
            try pusher(configuration: configuration).push(token, to: output)
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
        #expect(try pusher(program: script).push(token, to: output) == .pushed(PushPlaceReading(holds: true)))
        #expect(
            try directory.read("asked")
                == "push production --config /etc/c.yaml\n" + #"{"do":"publish","client_secret":"\#(Self.text)"}"#
                + "\n")
        let silent = try directory.write(
            "#!/bin/sh\nread -r line\necho it broke >&2\nexit 1\n", to: "silent", mode: 0o755)
        let broken = #expect(throws: Failure.self) { try pusher(program: silent).push(token, to: output) }
        #expect(broken?.code == .pushServiceSilent && broken?.detail == "'it broke'")
        let absent = #expect(throws: Failure.self) { try pusher(program: directory("absent")).push(token, to: output) }
        #expect(absent?.code == .pushServiceMissing)
        #expect(absent?.remedy == .say("install the package clientsecretd-network"))
        // A service is preferred: the token may be readable by it alone.
        let service = try SocketService(at: path, .answer(#"{"result":"published","verified":null}"#))
        #expect(try pusher(program: silent).push(token, to: output) == .pushed(PushPlaceReading(holds: nil)))
        _ = service
    }

    /// Also the answer to another request.
    @Test(arguments: ["hello", #"{"result":"read","holds":true}"#])
    func anythingElseIsNoAnswer(_ answer: String) throws {
        _ = try SocketService(at: path, .answer(answer))
        #expect(whatFailed()?.code == .pushServiceSilent)
    }

    @Test func withoutASocketTheServiceIsMissing() throws {
        let failure = try #require(whatFailed())
        #expect(failure.code == .pushServiceMissing)
        #expect(failure.detail == path)
        #expect(failure.remedy?.command == "systemctl enable --now clientsecretd-push@production.socket")
        #expect(pusher().problem(with: target) == failure)
        _ = try SocketService(at: path, .hangUp)
        #expect(pusher().problem(with: target) == nil)
        _ = whatFailed()
    }
}
