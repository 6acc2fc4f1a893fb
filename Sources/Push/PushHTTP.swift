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
    /// The server's clock.
    package let date: WallTime?

    package init(status: Int, body: [UInt8], retryAfter: Int? = nil, date: WallTime? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
        self.date = date
    }
}
