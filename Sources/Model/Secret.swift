package import AppleClientSecret

/// A secret and its known facts.
package struct Secret: Sendable {
    package let token: Token
    package let issued: SecretInfo

    package init(token: Token, issued: SecretInfo) {
        self.token = token
        self.issued = issued
    }
}
