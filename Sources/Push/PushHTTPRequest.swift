package import AppleClientSecret
import Failures

/// A request as it goes out.
package struct PushHTTPRequest: Sendable {
    package let method: String
    package let address: WebAddress
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]?
    /// How AWS wants it signed; nil for others.
    package let signature: AWSSignature?
}

extension HTTPAnswer {
    /// When it came, by the server's clock, or by this machine's if the server shows none.
    var moment: WallTime? { date ?? receivedAt }
}

/// The inputs of AWS Signature Version 4 for a request; the network program has libcurl sign it.
package struct AWSSignature: Sendable {
    package let region: String
    package let service: String
    package let keyID: String
    package let secretKey: String
}
