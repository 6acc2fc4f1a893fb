import AppleClientSecret
import Failures
import TestSupport
import Testing

@testable import Store

/// The session against answers that were taken from etcd 3.4.23, and such as it never gives.
@Suite struct StoreSessionTests {
    /// Answers in turn, and keeps what was asked.
    final class Network {
        var answers: [Result<HTTPAnswer, TransportFailure>] = []
        var calls: [StoreSession.Call] = []
        var now: Int64 = 0

        func send(_ call: StoreSession.Call) -> Result<HTTPAnswer, TransportFailure> {
            calls.append(call)
            return answers.isEmpty
                ? .failure(TransportFailure(.notConnected, "", mayBeSent: false)) : answers.removeFirst()
        }

        func say(_ text: String) { say(200, text) }

        func say(_ status: Int, _ text: String) {
            answers.append(.success(HTTPAnswer(status: status, body: Array(text.utf8), date: nil)))
        }

        func fail(_ kind: TransportFailure.Kind, sent: Bool = true) {
            answers.append(.failure(TransportFailure(kind, "", mayBeSent: sent)))
        }
    }

    private let network = Network()

    private static func key(_ number: Int = 0) -> StoreKey {
        .secret(sampleSlot("DEF123GHIJ", "com.example.web\(number)"))
    }

    private func session(user: String? = nil, members: Int = 3) -> StoreSession {
        StoreSession(
            StoreConfiguration(endpoints: (0..<members).map { "https://etcd\($0)" }, user: user),
            password: { .success("hunter2-hunter2") }, now: { [network] in network.now },
            random: { $0 == Int64(members) ? 0 : $0 / 2 }, send: network.send)
    }

    private static func range(_ number: Int, _ value: String?, revision: Int = 5) -> String {
        guard let value else { return #"{"response_range":{"header":{"revision":"9"}}}"# }
        let key = Base64.encode(key(number).bytes(below: "/clientsecretd"))
        return
            #"{"response_range":{"kvs":[{"key":"\#(key)","mod_revision":"\#(revision)","value":"\#(Base64.encode(Array(value.utf8)))"}],"count":"1"}}"#
    }

    private static func read(_ ranges: String...) -> String {
        #"{"header":{"revision":"9"},"succeeded":true,"responses":[\#(ranges.joined(separator: ","))]}"#
    }

    private static let value = #"{"v":1,"token":"\#(sampleToken())"}"#
    private static func put(_ text: String, ifAt revision: Int64) -> StoreRequest {
        .put([secret(text, ifAt: revision, sampleSlot("DEF123GHIJ", "com.example.web0"))])
    }

    private static let denied = #"{"error":"e","message":"etcdserver: permission denied","code":7}"#
    private static let login = #"{"header":{"revision":"1"},"token":"abc.12"}"#

    private var endpoints: [String] { network.calls.map { String($0.endpoint.last ?? " ") } }

    /// Between two reads a signer may put both.
    @Test func aSecretAndItsRolloutAreReadAtOneRevision() {
        let slots = (0..<3).map { sampleSlot("DEF123GHIJ", "com.example.web\($0)") }
        let keys = slots.flatMap { [StoreKey.secret($0), StoreKey.rollout($0)] }
        var session = session()
        for _ in 1...11 { network.say(403, Self.denied) }
        _ = session.answer(.read(keys))
        let read = network.calls.compactMap { call -> [Int]? in
            let asked = String(decoding: call.request.body, as: UTF8.self)
            let found = keys.indices.filter {
                asked.contains(Base64.encode(keys[$0].bytes(below: "/clientsecretd")))
            }
            return found.count > 1 ? found : nil
        }
        #expect(read == [[0, 1, 2, 3, 4, 5], [0, 1], [2, 3, 4, 5], [2, 3], [4, 5]])
    }

    @Test func severalKeysAreReadInOneTransaction() {
        var session = session()
        network.say(Self.read(Self.range(0, Self.value), Self.range(1, nil), Self.range(2, "other")))
        let result = session.answer(.read([Self.key(0), Self.key(1), Self.key(2)]))
        #expect(
            result
                == .read([held(sampleToken(), 5), .missing, .value(Array("other".utf8), revision: 5)]))
        #expect(network.calls.count == 1)
        #expect(network.calls[0].timeout == 3_000)
        #expect(session.watchable?.revision == 9)
        let request = String(decoding: session.watchable?.request.body ?? [], as: UTF8.self)
        #expect(request.contains(#""start_revision":"10""#))
    }

    @Test func moreKeysThanOneTransactionTakes() {
        var session = session()
        let keys = (0..<130).map { Self.key($0) }
        network.say(
            #"{"header":{"revision":"9"},"responses":[\#((0..<128).map { Self.range($0, nil) }.joined(separator: ","))]}"#
        )
        network.say(Self.read(Self.range(128, Self.value), Self.range(129, nil)))
        let result = session.answer(.read(keys))
        #expect(
            result
                == .read(
                    Array(repeating: .missing, count: 128) + [held(sampleToken(), 5), .missing]))
    }

    @Test func oneThatMayNotBeReadHidesNoOther() {
        var session = session()
        network.say(403, Self.denied)
        network.say(Self.read(Self.range(0, Self.value)))
        network.say(403, Self.denied)
        let result = session.answer(.read([Self.key(0), Self.key(1)]))
        #expect(result == .read([held(sampleToken(), 5), .forbidden]))
        #expect(session.watchable == nil)
    }

    @Test func oneThatIsHugeHidesNoOther() {
        var session = session()
        network.fail(.answerTooLong)
        network.fail(.answerTooLong)
        network.say(Self.read(Self.range(0, "", revision: 8)))
        network.say(Self.read(Self.range(1, Self.value)))
        let result = session.answer(.read([Self.key(0), Self.key(1)]))
        #expect(result == .read([.tooLong(revision: 8), held(sampleToken(), 5)]))
        #expect(String(decoding: network.calls[2].request.body, as: UTF8.self).contains(#""keys_only":true"#))
    }

    @Test func aStoreThatIsEndlessIsAFailure() {
        var session = session(members: 1)
        for _ in 0..<2 { network.fail(.answerTooLong) }
        let failure = session.answer(.read([Self.key()])).failure
        #expect(failure?.code == .storeAnswerUnexpected)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"responses":[{"response_range":{}}]}"#,
        #"{"header":{"revision":"9"},"responses":[]}"#,
        #"{"header":{"revision":"9"},"responses":[{"response_put":{}}]}"#,
        #"{"header":{"revision":"-9"},"responses":[{"response_range":{}}]}"#,
        #"{"header":{"revision":"99999999999999999999"},"responses":[{"response_range":{}}]}"#,
        #"{"header":{"revision":"9223372036854775807"},"responses":[{"response_range":{}}]}"#,
        #"{"header":{"revision":true},"responses":[{"response_range":{}}]}"#,
        #"{"header":{"revision":"9"},"responses":[{"response_range":{"kvs":{}}}]}"#,
        #"{"header":{"revision":"9"},"responses":[{"response_range":{"kvs":[{"key":"YQ==","mod_revision":"5","value":"YQ=="}]}}]}"#,
        #"{"header":{"revision":"9"},"responses":[{"response_range":{"kvs":[{"key":"KEY","mod_revision":"5","value":"?"}]}}]}"#,
        #"{"header":{"revision":"9"},"responses":[{"response_range":{"kvs":[{"key":"KEY","value":"YQ=="}]}}]}"#,
        #"{"header":{"revision":"9"},"responses":[{"response_range":{"kvs":[{"key":"KEY","mod_revision":"5","value":7}]}}]}"#,
    ])
    func anAnswerThatLiesAboutItsTypeIsNone(text: String) {
        let key = Base64.encode(Self.key().bytes(below: "/clientsecretd"))
        var session = session(members: 1)
        network.say(text.split(separator: "KEY", omittingEmptySubsequences: false).joined(separator: key))
        let failure = session.answer(.read([Self.key()])).failure
        #expect(failure?.code == .storeAnswerUnexpected)
    }

    @Test func numbersMayBeNumbers() {
        var session = session()
        let key = Base64.encode(Self.key().bytes(below: "/clientsecretd"))
        network.say(
            #"{"header":{"revision":9},"more":1,"responses":[{"response_range":{"kvs":[{"key":"\#(key)","mod_revision":5}]}}]}"#
        )
        #expect(session.answer(.read([Self.key()])) == .read([.value([], revision: 5)]))
    }

    @Test func aLoginIsKeptForAsLongAsItsMember() {
        var session = session(user: "u")
        network.say(Self.login)
        for _ in 0..<2 { network.say(Self.read(Self.range(0, nil))) }
        for _ in 0..<2 { #expect(session.answer(.read([Self.key()])) == .read([.missing])) }
        #expect(network.calls.map(\.request.path) == ["/v3/auth/authenticate", "/v3/kv/txn", "/v3/kv/txn"])
        #expect(network.calls.map(\.token) == [nil, "abc.12", "abc.12"])
        #expect(network.calls.map(\.timeout) == [60_000, 3_000, 3_000])
        // Any time-out may mean that the login is known no more.
        network.fail(.timedOut)
        network.say(Self.login)
        network.say(Self.read(Self.range(0, nil)))
        #expect(session.answer(.read([Self.key()])) == .read([.missing]))
        #expect(
            network.calls.dropFirst(3).map(\.request.path) == ["/v3/kv/txn", "/v3/auth/authenticate", "/v3/kv/txn"])
        #expect(endpoints == ["0", "0", "0", "0", "1", "1"])
    }

    @Test func aLoginThatHasExpiredIsRenewedOnce() {
        let invalid = #"{"error":"e","message":"etcdserver: invalid auth token","code":16}"#
        var session = session(user: "u")
        network.say(Self.login)
        network.say(Self.read(Self.range(0, nil)))
        _ = session.answer(.read([Self.key()]))
        network.say(401, invalid)
        network.say(Self.login)
        network.say(Self.read(Self.range(0, nil)))
        #expect(session.answer(.read([Self.key()])) == .read([.missing]))
        network.say(401, invalid)
        network.say(Self.login)
        network.say(401, invalid)
        let failure = session.answer(.read([Self.key()])).failure
        #expect(failure?.code == .storeCredentialsRefused)
        #expect(network.answers.isEmpty)
    }

    @Test func aRefusedLoginIsNotTriedAgainForAWhile() {
        var session = session(user: "u")
        network.say(400, #"{"message":"etcdserver: authentication failed, invalid user ID or password","code":3}"#)
        let detail = "it answered 400: etcdserver: authentication failed, invalid user ID or password"
        #expect(
            session.answer(.read([Self.key()]))
                == .failed(RoleFailure(.storeCredentialsRefused, detail, retryAfter: 5)))
        network.now = 2_000
        #expect(
            session.answer(.read([Self.key()]))
                == .failed(RoleFailure(.storeCredentialsRefused, detail, retryAfter: 3)))
        #expect(network.calls.count == 1)
        network.now = 5_000
        network.say(Self.login)
        network.say(Self.read(Self.range(0, nil)))
        #expect(session.answer(.read([Self.key()])) == .read([.missing]))
    }

    @Test func aLoginWithoutAnAnswerGoesToNoOtherMember() {
        var session = session(user: "u")
        network.fail(.timedOut)
        let failure = session.answer(.read([Self.key()])).failure
        #expect(failure?.code == .storeTimedOut)
        #expect(failure?.retryAfter == 5)
        // One that has got nothing of it yet has no work with it.
        network.now = 5_000
        network.fail(.timedOut, sent: false)
        network.say(Self.login)
        network.say(Self.read(Self.range(0, nil)))
        #expect(session.answer(.read([Self.key()])) == .read([.missing]))
        #expect(endpoints == ["0", "1", "2", "2"])
    }

    @Test func membersWithAFaultAreLeft() {
        var session = session()
        network.say(
            503, #"{"message":"etcdserver: request timed out, possibly due to previous leader failure","code":14}"#)
        network.say(200, "<html>")
        network.fail(.connectionLost)
        let failure = session.answer(.read([Self.key()])).failure
        #expect(failure?.code == .storeUnreachable)
        #expect(failure?.retryAfter == 1)
        #expect(endpoints == ["0", "1", "2"])
    }

    @Test func aPutThatWasNotAnsweredMayHaveBeenDone() {
        var session = session()
        network.fail(.timedOut)
        network.say(#"{"header":{"revision":"12"},"responses":[\#(Self.range(0, Self.value, revision: 12))]}"#)
        #expect(session.answer(Self.put(sampleToken(), ifAt: 5)) == .put(revision: 12))
        #expect(network.calls[0].request == network.calls[1].request)
        #expect(endpoints == ["0", "1"])
    }

    @Test(arguments: [
        (403, denied, FailureCode.storeForbidden),
        (429, #"{"message":"etcdserver: mvcc: database space exceeded","code":8}"#, .storeOutOfSpace),
    ])
    func aFailedPutDoesNotKeepFromReading(status: Int, text: String, code: FailureCode) {
        var session = session()
        network.say(status, text)
        let failure = session.answer(Self.put(sampleToken(), ifAt: 0)).failure
        #expect(failure?.code == code)
        #expect(failure?.retryAfter == nil || code == .storeOutOfSpace)
        network.say(Self.read(Self.range(0, nil)))
        #expect(session.answer(.read([Self.key()])) == .read([.missing]))
        #expect(endpoints == ["0", "0"])
    }

    @Test(arguments: [
        (400, #"{"message":"etcdserver: user name is empty","code":3}"#, FailureCode.storeUserMissing),
        (
            400, "CommonName of client sending a request against gateway will be ignored and not used as expected\n",
            .storeCertificateRefused
        ),
        (404, "Not Found\n", .storeAnswerUnexpected),
        (400, #"{"message":"hunter2-hunter2","code":3}"#, .storeAnswerUnexpected),
        (429, #"{"message":"etcdserver: too many requests","code":8}"#, .storeUnavailable),
        (502, "", .storeUnavailable),
    ])
    func answersOfEtcdAreDistinguished(status: Int, text: String, code: FailureCode) {
        var session = session(members: 1)
        network.say(status, text)
        let failure = session.answer(.read([Self.key()])).failure
        #expect(failure?.code == code)
        #expect(failure?.detail?.contains("hunter2") == false)
    }

    @Test(arguments: [
        (
            "OpenSSL SSL_read: error:0A000412:SSL routines::sslv3 alert bad certificate, errno 0",
            FailureCode.storeCertificateRefused
        ),
        ("error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0", .storeCertificateRefused),
        ("error:0A000418:SSL routines::tlsv1 alert unknown ca", .storeCertificateRefused),
        ("error:0A000438:SSL routines::tlsv1 alert internal error", .storeTLSFailed),
        ("Recv failure", .storeUnreachable),
    ])
    func alerts(words: String, code: FailureCode) {
        #expect(RoleFailure(TransportFailure(.connectionLost, words)).code == code)
    }
}
