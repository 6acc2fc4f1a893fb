package import AppleClientSecret
package import Model

/// A secret and what is known of it: what a slot is to hold.
package struct Secret: Sendable {
    package let token: Token
    package let issued: SecretInfo

    package init(token: Token, issued: SecretInfo) {
        self.token = token
        self.issued = issued
    }
}
