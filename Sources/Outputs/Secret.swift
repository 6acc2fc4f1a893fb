package import AppleClientSecret
package import Model

/// A secret and its known facts, as a slot is to hold them.
package struct Secret: Sendable {
    package let token: Token
    package let issued: SecretInfo

    package init(token: Token, issued: SecretInfo) {
        self.token = token
        self.issued = issued
    }
}
