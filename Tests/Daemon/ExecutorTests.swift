import AppleClientSecret
import Digest
import Failures
import Foundation
import Linux
import Model
import Outputs
import State
import TestSupport
import Testing

@testable import Daemon

@Suite struct ExecutorTests {
    /// Whatever thread is done first.
    @Test(arguments: [0, 1, 5_000])
    func mapsElementsInTheirOrder(count: Int) throws {
        let executor = try Executor.idle()
        let numbers = Array(0..<count)
        let lane: (Int) -> Lane = { $0.isMultiple(of: 3) ? .state : .probes }
        let found = executor.map(numbers, in: lane) { 2 * $0 }
        #expect(found == numbers.map { 2 * $0 })
    }

    /// A state directory that cannot be written to or locked.
    @Test func aRecordIsReadAlsoIfNoneCanBeKept() throws {
        let scratch = try TemporaryDirectory()
        let path = try #require(AbsolutePath(scratch("state")))
        let (web, shop) = (try #require(ClientName("web")), try #require(ClientName("shop")))
        let claims = Claims.sample(1)
        let token = Token(claims.sampleToken(1))
        let issued = SecretInfo(fingerprint: token.fingerprint, claims: claims, signer: nil)
        do {
            let secret = RecordedSecret(Secret(token: token, issued: issued), signerKey: nil)
            try StateDirectory.open(path, as: .current()).keep(KeptRecord(current: secret), of: web)
        }
        try FileManager.default.removeItem(atPath: scratch("state/lock"))
        try scratch.folder("state/lock")
        let access = try StateAccess(
            at: path, as: .current(),
            open: { path, _ in Result { () throws(Failure) in try StateDirectory.open(path, as: .current()) } },
            lost: { _ in })
        let executor = try Executor.idle(state: access)
        let outcome = try executor.recall(web, publishedAt: [])
        guard case .recalledUnkept(let record) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(record.current == issued)
        #expect(try executor.secret(issued).token.fingerprint == token.fingerprint)
        // What it lacks may be elsewhere.
        #expect(throws: Failure.self) { _ = try executor.recall(shop, publishedAt: []) }
    }
}
