/// The inputs of AWS Signature Version 4 for a request; the network program has libcurl sign it.
package struct AWSSignature: Sendable {
    package let region: String
    package let service: String
    package let keyID: String
    package let secretKey: String
}
