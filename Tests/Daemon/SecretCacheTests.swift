import AppleClientSecret
import Model
import TestSupport
import Testing

@testable import Daemon

/// Which secrets' bytes the daemon has in memory.
@Suite struct SecretCacheTests {
    private let cache = SecretCache()
    /// What the cache of a daemon with one client holds at rest.
    private let room = 68

    private func put(_ number: UInt64) {
        let token = Token(Array("token \(number)".utf8)) { _ in [UInt8](repeating: 0, count: 32) }
        cache.put(Secret(token: token, issued: .sample(number)))
    }

    private func has(_ number: UInt64) -> Bool { cache.all[Fingerprint(leadingBytes: number)] != nil }

    private func forgetUnused(isIdle: Bool, inUse: UInt64...) {
        cache.forgetUnused(
            clients: 1, isIdle: isIdle, inUse: Set(inUse.map { Fingerprint(leadingBytes: $0) }))
    }

    /// The owner of a file writes a new token every few seconds, and no disk has to respond for that.
    @Test func doesNotGrowWhileAJobNeverEnds() {
        for number: UInt64 in 1...1_000 {
            put(number)
            // Read again and again, as one that is found in a file each time.
            _ = cache.secret(Fingerprint(leadingBytes: 2))
            forgetUnused(isIdle: false, inUse: 1)
            #expect(cache.count <= 2 * room)
        }
        #expect(has(1) && has(2) && !has(3))
        // The core may not know these yet.
        #expect((936...1_000).allSatisfy(has))
    }

    @Test func keepsOnlyWhatIsInUseWhileNoJobRuns() {
        for number: UInt64 in 1...69 { put(number) }
        forgetUnused(isIdle: false, inUse: 1, 2)
        #expect(cache.count == 69)
        forgetUnused(isIdle: true, inUse: 1, 2)
        #expect(cache.count == 2 && has(1) && has(2))
    }
}
