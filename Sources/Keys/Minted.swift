package import AppleClientSecret
package import Rotation

/// A newly minted secret.
package struct Minted: Sendable {
    package let token: Token
    package let issued: SecretInfo
}
