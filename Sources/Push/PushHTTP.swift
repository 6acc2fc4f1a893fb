package import AppleClientSecret

/// A request as it goes out.
package struct PushHTTPRequest: Sendable {
    package let method: String
    package let address: WebAddress
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]?
    /// How AWS wants it signed; nil for others.
    package let signature: AWSSignature?
}

/// An answer as it came in.
package struct PushHTTPAnswer: Sendable {
    package let status: Int
    package let body: [UInt8]
    /// In seconds (`Retry-After:`); nil where it does not say.
    package let retryAfter: Int?
    /// The server's clock; nil where it does not say.
    package let date: WallTime?
    /// When it came, by this machine's clock.
    package let receivedAt: WallTime?

    /// When it came, by the server's clock, or by this machine's where the server does not say.
    var moment: WallTime? { date ?? receivedAt }

    package init(
        status: Int, body: [UInt8], retryAfter: Int? = nil, date: WallTime? = nil, receivedAt: WallTime? = nil
    ) {
        self.receivedAt = receivedAt
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
        self.date = date
    }
}
