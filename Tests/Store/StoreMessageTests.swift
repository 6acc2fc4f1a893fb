import AppleClientSecret
import Failures
import Testing

@testable import Store

@Suite struct StoreMessageTests {
    private static let slot = "DEF123GHIJ/com.example.web/000aff1005060708"

    @Test func requestsAreRead() throws {
        let slot = try #require(StoreSlot(Self.slot))
        let put = secret(sampleToken(), ifAt: 7, slot)
        for request in [
            StoreRequest.read([.secret(slot), .rollout(slot)]), .put([put]),
            .put([.init([0xFF, 0], at: .rollout(slot), ifAt: 0), put]),
            .put([.init([], at: .report(of: "app17"), ifAt: 0)]), .list(.report, from: nil),
            .list(.report, from: [1, 2]),
            .remove(.report(of: "app17"), ifAt: 3),
        ] {
            for store in [nil, "https://etcd1:2379"] {
                let read = StoreRoleRequest(line: StoreRoleRequest(request, for: store).line)
                #expect(read?.request == request && read?.store == store)
            }
        }
    }

    @Test(arguments: [
        "", "[]", #"{"do":"read"}"#, #"{"do":"read","keys":[]}"#, #"{"do":"read","keys":["K","K"]}"#,
        #"{"do":"read","keys":["K",7]}"#, #"{"do":"burn","keys":["K"]}"#, #"{"do":"put","puts":[]}"#,
        #"{"do":"put","puts":[{"key":"K","value":"?","revision":0}]}"#,
        #"{"do":"put","puts":[{"key":"K","value":"YQ=="}]}"#,
        #"{"do":"put","puts":[{"key":"K","value":"YQ==","revision":-1}]}"#,
        #"{"do":"put","puts":[{"key":"K/","value":"YQ==","revision":0}]}"#,
        #"{"do":"put","puts":[{"key":"K","value":"","revision":0},{"key":"K","value":"","revision":0}]}"#,
        #"{"do":"list"}"#, #"{"do":"list","kind":"lease"}"#, #"{"do":"list","kind":"host","from":7}"#,
        #"{"do":"remove","key":"K"}"#, #"{"do":"remove","key":"K","revision":0}"#,
    ])
    func otherTextsAreNoRequest(text: String) {
        let text = text.replacing("K", with: "secret/" + Self.slot)
        #expect(StoreRoleRequest(line: Array(text.utf8)) == nil)
    }

    @Test func aValueThatIsTooLongIsNotPut() throws {
        let slot = try #require(StoreSlot(Self.slot))
        func put(_ count: Int) -> StoreRoleRequest {
            StoreRoleRequest(.put([.init(Array(repeating: 7, count: count), at: .secret(slot), ifAt: 0)]))
        }
        #expect(StoreRoleRequest(line: put(StoreEntry.longest).line) != nil)
        #expect(StoreRoleRequest(line: put(StoreEntry.longest + 1).line) == nil)
    }

    /// Whoever fills the secrets of a store keeps nobody from reading it.
    @Test func theLongestSecretsOfAllClientsFitIntoAnAnswer() {
        let pair: [StoreEntry] = [
            .value(Array(repeating: 7, count: StoreEntry.longest), revision: .max),
            .value(Array(repeating: 7, count: 250), revision: .max),
        ]
        let count = 512
        let keys = (0..<count).flatMap { number in
            let slot = sampleSlot("DEF123GHIJ", "com.example.web\(number)")
            return [StoreKey.secret(slot), .rollout(slot)]
        }
        let answer = StoreResult.read(Array(repeating: pair, count: count).flatMap(\.self)).jsonText.bytes
        #expect(answer.count <= StoreAnswer.longest(for: .read(keys)))
        #expect(StoreAnswer(line: answer, to: .read(keys)) != nil)
    }

    /// A version of the daemon and another of the role understand each other by these.
    @Test func aFailureIsNamedLikeTheCodeOfTheTable() {
        let codes = FailureCode.allCases.filter { $0.rawValue.hasPrefix("store_") }
        #expect(codes.allSatisfy { $0.traits.contains(.ofStore) })
        #expect(
            StoreResult.failed(RoleFailure(.storeServerUntrusted)).json.contains(#""code":"store_server_untrusted""#))
    }

    @Test func answersAreRead() {
        let entries: [StoreEntry] = [
            .missing, .forbidden, .value([0, 0xFF], revision: 9), .value([], revision: 1), .tooLong(revision: .max),
        ]
        let codes = FailureCode.allCases.filter { $0.rawValue.hasPrefix("store_") }
        let failures = codes.filter { !$0.traits.contains(.ofDaemonOnly) }.map {
            StoreResult.failed(
                RoleFailure($0, $0 == .storeTimedOut ? nil : "why", retryAfter: $0 == .storeTimedOut ? 7 : nil))
        }
        let listed = entries.enumerated().map { StoreResult.Listed(key: .report(of: "app\($0)"), entry: $1) }
        for result in [
            .read(entries), .put(revision: 5), .conflict(entries), .list([], next: nil), .list(listed, next: [1]),
            .removed,
        ] + failures {
            #expect(StoreAnswer(line: result.jsonText.bytes)?.result == result)
        }
        for text in [
            "", "{}", #"{"result":"failed","code":"disk_full"}"#, #"{"result":"put"}"#,
            // What only the daemon can find.
            #"{"result":"failed","code":"store_service_missing"}"#,
            #"{"result":"failed","code":"store_service_silent"}"#,
            #"{"result":"failed","code":"store_machine_shared"}"#,
            #"{"result":"failed","code":"store_certificate_expiring"}"#,
            #"{"result":"read","entries":[{"state":"value"}]}"#,
            #"{"result":"conflict","entries":[{"state":"other"}]}"#,
            #"{"result":"list","entries":[{"state":"missing"}],"next":null}"#,
        ] {
            #expect(StoreAnswer(line: Array(text.utf8)) == nil)
        }
        let many = (0...StoreResult.mostListed).map {
            StoreResult.Listed(key: .report(of: "app\($0)"), entry: .missing)
        }
        let page = StoreResult.list(many, next: nil).jsonText.bytes
        #expect(StoreAnswer(line: page) == nil, "a page of more keys than there may be")
        let full = StoreResult.list(many.dropLast(), next: nil).jsonText.bytes
        #expect(StoreAnswer(line: full, to: .list(.report, from: nil)) != nil)
        let long = StoreResult.read([.value(Array(repeating: 7, count: StoreEntry.longest + 1), revision: 1)])
        #expect(StoreAnswer(line: long.jsonText.bytes) == nil, "a value that is longer than one may be")
        let bomb = Array(#"{"result":"put","revision":5,"more":[\#(String(repeating: "0,", count: 5_000))0]}"#.utf8)
        #expect(StoreAnswer(line: bomb, to: .list(.report, from: nil)) == nil)
        let expiry = WallTime(secondsSinceEpoch: 1_800_000_000)
        for expiresAt in [expiry, nil] {
            let answer = StoreAnswer(.put(revision: 5), certificateExpiresAt: expiresAt)
            #expect(StoreAnswer(line: answer.jsonText.bytes) == answer)
        }
        for notice in StoreWatchNotice.allCases { #expect(StoreWatchNotice(line: notice.line.bytes) == notice) }
    }
}
