package import AppleClientSecret

extension Token {
    /// The token with these bytes, which are not checked.
    package init(_ bytes: [UInt8]) {
        self.init(bytes, sha256: SHA256.digest)
    }
}
