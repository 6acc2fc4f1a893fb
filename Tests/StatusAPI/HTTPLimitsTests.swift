import AppleClientSecret
import StatusAPI
import Testing

/// What clients may take up, as the contract and `docs/openapi.yaml` have it.
struct HTTPLimitsTests {
    @Test func theContractsNumbersAreTheDaemons() {
        let limits = HTTPLimits()
        #expect(limits.connections == 64)
        #expect(limits.connectionsPerUser == 8)
        #expect(limits.keptConnections == 4)
        #expect(limits.requestPause == 10)
        #expect((limits.headerSize, limits.headerFields, limits.bodySize) == (8192, 64, 65_536))
        #expect((limits.requestTime, limits.idleTime, limits.answerTime) == (10_000, 90_000, 30_000))
    }
}
