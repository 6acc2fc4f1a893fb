package import AppleClientSecret

/// The answer of an HTTP server.
package struct HTTPAnswer: Hashable, Sendable {
    /// The status of the answer; 200 for success.
    package let status: Int
    /// At most ``longestBody`` bytes, of any kind.
    package let body: [UInt8]
    /// The server's clock (`Date:`); nil if it does not tell.
    package let date: WallTime?
    /// Whether the body contained more than blanks and was left out, because it may repeat the request.
    package let isBodyLeftOut: Bool
    /// In seconds (`Retry-After:`); nil if it does not say, or was not looked at.
    package var retryAfter: Int?
    /// When it came, by this machine's clock; nil if that was not noted.
    package var receivedAt: WallTime?

    /// In bytes: Apple's key set has some 2 KiB, a token response 3 KiB.
    package static let longestBody = 1 << 20

    package init(
        status: Int, body: [UInt8], date: WallTime?, isBodyLeftOut: Bool = false, receivedAt: WallTime? = nil
    ) {
        self.isBodyLeftOut = isBodyLeftOut
        self.receivedAt = receivedAt
        self.status = status
        self.body = body
        self.date = date
    }
}
