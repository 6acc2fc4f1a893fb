import AppleClientSecret
import Digest
import Failures
import Foundation
import Linux
import Model
import Rotation
import Store
import Synchronization
import TestSupport
import Testing

@testable import Daemon

/// What the daemon makes of the service that asks the store, however that one behaves.
@Suite struct StoreServiceClientTests {
    private static let signature = String(repeating: "c2lnbmF0dXJl", count: 7)
    private static let text = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ3ZWIifQ.\(signature)"
    private static let value = base64(#"{"v":1,"token":"\#(text)"}"#)

    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    private let directory: TemporaryDirectory
    private let place: StorePlace
    private let other: StorePlace
    private let issued = SecretInfo.sample()
    private let heard = Heard()
    private var path: String { directory("store.sock") }
    private var token: Token { Token(Array(Self.text.utf8)) { _ in [UInt8](repeating: 1, count: 32) } }

    private final class Heard: Sendable {
        let inputs = Mutex<[Input]>([])
    }

    init() throws {
        directory = try TemporaryDirectory()
        let team = try #require(TeamID("DEF123GHIJ"))
        let client = try #require(ClientID("com.example.web"))
        let digits = { (digit: String) in KeyDigest(String(repeating: digit, count: 64)) }
        place = StorePlace(team: team, client: client, key: try #require(digits("a")))
        other = StorePlace(team: team, client: client, key: try #require(digits("b")))
    }

    private func service(timeout: Int64 = 600_000, cancel: EventCounter? = nil) throws -> StoreServiceClient {
        try StoreServiceClient(
            besideSocket: directory("status.sock"), identity: .current(), cancel: cancel, timeout: timeout,
            post: { [heard] input in heard.inputs.withLock { $0.append(input) } })
    }

    /// Why nothing was read.
    private func whatFailed(timeout: Int64 = 600_000, cancel: EventCounter? = nil) throws -> Failure? {
        let service = try service(timeout: timeout, cancel: cancel)
        let failure = #expect(throws: Failure.self) { try service.read([place], issued: { _ in nil }) }
        #expect(failure?.place == .store)
        return failure
    }

    @Test func theContentsOfEachPlaceAndNoticesAreReported() throws {
        let rolloutText =
            #"{"v":1,"fingerprint":"sha256:0123456789abcdef","admitted":"00000000000000ff","state":"held","tolerated":2}"#
        let listener = try SocketService(
            at: path,
            .answer(
                """
                {"notice":"watching"}
                {"notice":"changed"}
                {"result":"read","entries":[{"state":"value","value":"\(Self.value)","revision":42},{"state":"missing"},{"state":"forbidden"},{"state":"value","value":"\(Self.base64(rolloutText))","revision":8}]}

                """))
        let service = try service()
        let found = try service.read([place, other], issued: { _ in issued })
        let rollout = Rollout(
            of: SecretName(Fingerprint(leadingBytes: 0x0123_4567_89AB_CDEF)), admitted: 255, state: .held, tolerated: 2)
        #expect(
            found
                == .storeRead(
                    [place: .secret(issued, revision: 42), other: .forbidden],
                    rollouts: [other: .rollout(rollout, revision: 8)]))
        #expect(heard.inputs.withLock { $0 } == [.storeWatched(true), .changeNoticed(.store)])
        #expect(
            listener.request
                == #"{"do":"read","keys":["secret/DEF123GHIJ/com.example.web/aaaaaaaaaaaaaaaa","#
                + #""rollout/DEF123GHIJ/com.example.web/aaaaaaaaaaaaaaaa","#
                + #""secret/DEF123GHIJ/com.example.web/bbbbbbbbbbbbbbbb","#
                + #""rollout/DEF123GHIJ/com.example.web/bbbbbbbbbbbbbbbb"]}"# + "\n")
        // The connection has ended by now, and so has the watch.
        #expect(service.takeNotices() == [.storeServiceEnded])
        #expect(service.takeNotices() == [])
    }

    @Test func aPutSaysWhatCameOfIt() throws {
        let listener = try SocketService(at: path, .answer(#"{"result":"put","revision":43}"# + "\n"))
        #expect(try service().put(token, at: place, ifAt: 42, issued: { _ in nil }) == .done(revision: 43))
        #expect(
            listener.request
                == #"{"do":"put","puts":[{"key":"secret/DEF123GHIJ/com.example.web/aaaaaaaaaaaaaaaa","#
                + #""value":"\#(Self.value)","revision":42}]}"# + "\n")
    }

    /// The service's own file may have been edited since.
    @Test func aRequestNamesTheStoreThatTheDaemonMeans() throws {
        let listener = try SocketService(at: path, .answer(#"{"result":"put","revision":43}"# + "\n"))
        let service = try service()
        service.follow(StoreConfiguration(endpoints: ["https://a:2379", "https://b:2379"], prefix: "/shop"))
        #expect(try service.put(token, at: place, ifAt: 42, issued: { _ in nil }) == .done(revision: 43))
        let request = listener.request
        #expect(request.hasSuffix(#","store":"https://a:2379, https://b:2379 below /shop"}"# + "\n"), "\(request)")
    }

    @Test func aRolloutIsPutWithItsSecret() throws {
        let listener = try SocketService(at: path, .answer(#"{"result":"put","revision":43}"# + "\n"))
        let rollout = Rollout(of: SecretName(Fingerprint(leadingBytes: 1)), admitted: 255)
        #expect(
            try service().put(rollout, at: place, ifAt: 0, with: (token, 42), issued: { _ in nil })
                == .done(revision: 43))
        #expect(
            listener.request
                == #"{"do":"put","puts":[{"key":"rollout/DEF123GHIJ/com.example.web/aaaaaaaaaaaaaaaa","value":""#
                + Self.base64(
                    #"{"v":1,"fingerprint":"sha256:0000000000000001","admitted":"00000000000000ff","state":"going","#
                        + #""tolerated":0}"#)
                + #"","revision":0},{"key":"secret/DEF123GHIJ/com.example.web/aaaaaaaaaaaaaaaa","#
                + #""value":"\#(Self.value)","revision":42}]}"# + "\n")
    }

    @Test func aValueInPlaceOfARolloutIsReported() throws {
        _ = try SocketService(
            at: path,
            .answer(
                #"{"result":"conflict","entries":[{"state":"value","value":"YQ==","revision":5},{"state":"missing"}]}"#
                    + "\n"))
        #expect(
            try service().put(
                .init(of: SecretName(Fingerprint(leadingBytes: 1)), admitted: 255), at: place, ifAt: 0,
                with: (token, 42),
                issued: { _ in nil }) == .found(.foreign(revision: 5), secret: .missing))
    }

    @Test func theExpiryOfTheCertificateIsReportedOnceUntilItChanges() throws {
        func answer(_ more: String) -> String { #"{"result":"put","revision":43\#(more)}"# + "\n" }
        let expiry = WallTime(secondsSinceEpoch: 1_800_000_000)
        let service = try service()
        for more in [#","certificate_expires":1800000000"#, #","certificate_expires":1800000000"#, ""] {
            _ = try SocketService(at: path, .answer(answer(more)))
            _ = try service.put(token, at: place, ifAt: 42, issued: { _ in nil })
            try FileManager.default.removeItem(atPath: path)
        }
        let told = heard.inputs.withLock { $0 }.filter { if case .storeCertificate = $0 { true } else { false } }
        #expect(told == [.storeCertificate(expiresAt: expiry), .storeCertificate(expiresAt: nil)])
    }

    @Test(arguments: [
        (#""state":"value","value":"YQ==""#, "clientsecretd did not write it"),
        (#""state":"too_long""#, "it is longer than a secret"),
    ])
    func aConflictSaysWhatIsThere(_ members: String, _ words: String) throws {
        _ = try SocketService(
            at: path, .answer(#"{"result":"conflict","entries":[{\#(members),"revision":7}]}"# + "\n"))
        #expect(
            try service().put(token, at: place, ifAt: 42, issued: { _ in nil })
                == .conflict(.foreign(words, revision: 7)))
    }

    /// Written by another version, in other words.
    @Test func aConflictWithTheSameTokenIsNone() throws {
        let value = Self.base64(#"{"token":"\#(Self.text)","v":1,"more":0}"#)
        _ = try SocketService(
            at: path,
            .answer(#"{"result":"conflict","entries":[{"state":"value","value":"\#(value)","revision":7}]}"# + "\n"))
        let same = Token(Array(Self.text.utf8))
        #expect(try service().put(same, at: place, ifAt: 42, issued: { _ in nil }) == .done(revision: 7))
    }

    /// A connection costs a process and a login; what root may have replaced, this process cannot see.
    @Test func aReloadEndsTheConnectionOnlyWhereTheServiceWouldReadSomethingElse() throws {
        let service = try service()
        let settings = StoreConfiguration(endpoints: ["https://a:2379"])
        service.follow(settings)
        func isEnded() -> Bool {
            heard.inputs.withLock { inputs in
                defer { inputs = [] }
                return inputs == [.storeWatched(false)]
            }
        }
        #expect(isEnded())
        for _ in 0..<3 { service.follow(settings) }
        #expect(!isEnded())
        service.follow(StoreConfiguration(endpoints: ["https://a:2379"], files: [.password: "/new"]))
        #expect(isEnded())
        service.expectChange()
        service.follow(StoreConfiguration(endpoints: ["https://a:2379"], files: [.password: "/new"]))
        #expect(isEnded())
        service.follow(StoreConfiguration(endpoints: ["https://a:2379"], files: [.password: "/new"]))
        #expect(!isEnded())
    }

    /// The process that was asked has the configuration and the files from before.
    @Test func aConnectionThatWasEndedWhileItWasAskedIsNotKept() throws {
        _ = try SocketService(
            at: path, .answer(#"{"notice":"changed"}"# + "\n" + #"{"result":"put","revision":43}"# + "\n"))
        let reloaded = Mutex<StoreServiceClient?>(nil)
        let service = try StoreServiceClient(
            besideSocket: directory("status.sock"), identity: .current(), cancel: nil,
            post: { if $0 == .changeNoticed(.store) { reloaded.withLock { $0 }?.disconnect() } })
        reloaded.withLock { $0 = service }
        #expect(try service.put(token, at: place, ifAt: 42, issued: { _ in nil }) == .done(revision: 43))
        #expect(service.takeNotices() == [])
        reloaded.withLock { $0 = nil }
    }

    private static func failed(_ code: String) -> String {
        #"{"result":"failed","code":"\#(code)","detail":null,"retry_after":null}"# + "\n"
    }

    /// A process keeps what it was handed at its start, so what is put right is seen by the next one. Of a connection that comes
    /// while the former is still ending nothing is answered.
    @Test(arguments: [
        ("store_file_unusable", false), ("store_credentials_refused", false), ("store_unavailable", true),
    ])
    func afterAFailureOfWhatItWasHandedAnotherProcessIsAsked(_ code: String, _ isKept: Bool) throws {
        let first = try SocketService(at: path, .each { _ in Self.failed(code) })
        let service = try service()
        let failure = #expect(throws: Failure.self) { try service.read([place], issued: { _ in nil }) }
        #expect(failure?.code.rawValue == code)
        #expect(heard.inputs.withLock { $0 } == (isKept ? [] : [.storeWatched(false)]))
        #expect(service.takeNotices() == [])
        try FileManager.default.removeItem(atPath: path)
        _ = try SocketService(at: path, .answer(#"{"result":"put","revision":43}"# + "\n"), dropping: 1)
        let put = try? service.put(token, at: place, ifAt: 42, issued: { _ in nil })
        #expect(put == (isKept ? nil : .done(revision: 43)))
        service.disconnect()
        _ = first.request
    }

    /// Root may have restarted it with another password.
    @Test(arguments: ["store_credentials_refused", "store_unavailable"])
    func theEndOfAServiceThatFailedIsReported(_ code: String) throws {
        _ = try SocketService(at: path, .answer(Self.failed(code)))
        let service = try service()
        #expect(throws: Failure.self) { try service.read([place], issued: { _ in nil }) }
        // It ends when it has answered, which may take a moment to be seen.
        var ended = pollfd(fd: service.raw, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&ended, 1, 10_000) == 1)
        #expect(service.takeNotices() == [.storeServiceEnded])
    }

    @Test func linesWithoutEndAreNotWaitedForWithoutEnd() throws {
        _ = try SocketService(
            at: path, .answer(String(repeating: #"{"notice":"changed"}"# + "\n", count: 200_000)))
        #expect(try whatFailed()?.code == .storeServiceSilent)
    }

    /// A service that was taken over must not keep the daemon busy while nothing is asked.
    @Test func aServiceThatSendsNoticesWithoutEndIsDisconnected() throws {
        _ = try SocketService(
            at: path,
            .each { _ in
                #"{"result":"put","revision":43}"# + "\n"
                    + String(repeating: #"{"notice":"watching"}"# + "\n", count: 100)
            })
        let service = try service()
        #expect(try service.put(token, at: place, ifAt: 42, issued: { _ in nil }) == .done(revision: 43))
        var told = heard.inputs.withLock { $0 }
        while told.last != .storeWatched(false), told.last != .storeServiceEnded {
            var readable = pollfd(fd: service.raw, events: Int16(POLLIN), revents: 0)
            try #require(unsafe poll(&readable, 1, 10_000) == 1, "it is still connected")
            told += service.takeNotices()
        }
    }

    // MARK: Reports

    private static func page(_ names: some Sequence<Int>, next: String?) -> String {
        let entries = names.map { #"{"key":"host/app\#($0)","state":"too_long","revision":1}"# }.joined(separator: ",")
        let next = next.map { #""\#(Data($0.utf8).base64EncodedString())""# } ?? "null"
        return #"{"result":"list","entries":[\#(entries)],"next":\#(next)}"# + "\n"
    }

    private func whyReportsFail(_ page: @escaping @Sendable (Int) -> String) throws -> Failure? {
        _ = try SocketService(at: path, .each(page))
        let service = try service(timeout: 30_000)
        return #expect(throws: Failure.self) { try service.readReports(of: []) }
    }

    @Test func reportsOfMoreMachinesThanThereMayBeAreRefused() throws {
        let failure = try whyReportsFail { number in
            let first = 1_000_000 + number * 256
            return Self.page(first..<first + 256, next: "app\(first + 256)")
        }
        #expect(failure?.code == .storeAnswerUnexpected)
        #expect(failure?.detail == "more than 20000 machines report")
    }

    @Test(arguments: [
        [page(1...2, next: "app2"), page(2...3, next: nil)], [page([2, 1], next: nil)],
        [page([], next: "app5"), page([], next: "app5")], [page(1...1, next: "app2"), page([], next: "app1")],
    ])
    func reportsThatDoNotLeadOnAreRefused(_ pages: [String]) throws {
        #expect(try whyReportsFail { pages[min($0, pages.count - 1)] }?.code == .storeServiceSilent)
    }

    /// What is asked now is given up for it: the store's answer to it is looked for again later.
    @Test func aReadWaitsForAPutForSecondsOnly() throws {
        let asked = DispatchSemaphore(value: 0)
        _ = try SocketService(
            at: path,
            .each { _ in
                asked.signal()
                return ""
            })
        let service = try StoreServiceClient(
            besideSocket: directory("status.sock"), identity: .current(), cancel: nil, timeout: 600_000,
            readTimeout: 50)
        let failed = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [token, place] in
            do throws(Failure) {
                _ = try service.put(token, at: place, ifAt: 42, issued: { _ in nil })
            } catch {
                if error.code == .storeServiceSilent { failed.signal() }
            }
        }
        asked.wait()
        #expect(throws: Failure.self) { try service.read([place], issued: { _ in nil }) }
        failed.wait()
    }

    @Test func aFailureHasItsCodeAndHowLongToWait() throws {
        _ = try SocketService(
            at: path,
            .answer(#"{"result":"failed","code":"store_unavailable","detail":"no leader","retry_after":90}"# + "\n"))
        let failure = try #require(try whatFailed())
        #expect(failure.code == .storeUnavailable)
        #expect(failure.detail == "'no leader'")
        #expect(failure.retryAfter == 90)
    }

    @Test(arguments: ["no answer\n", #"{"result":"put","revision":43}"# + "\n", #"{"result":"#, ""])
    func anythingElseIsNoAnswer(_ text: String) throws {
        _ = try SocketService(at: path, .answer(text), dropping: 1)
        #expect(try whatFailed()?.code == .storeServiceSilent)
    }

    @Test func aServiceThatSaysNothingIsGivenUpOn() throws {
        _ = try SocketService(at: path, .hang)
        #expect(try whatFailed(timeout: 50)?.code == .storeServiceSilent)
    }

    @Test func aStopEndsTheWaiting() throws {
        _ = try SocketService(at: path, .hang)
        let cancel = try EventCounter()
        cancel.signal()
        #expect(try whatFailed(cancel: cancel)?.code == .storeServiceSilent)
    }

    @Test func withoutASocketItIsMissing() throws {
        #expect(try whatFailed()?.code == .storeServiceMissing)
        #expect(try service().problem()?.code == .storeServiceMissing)
    }
}
