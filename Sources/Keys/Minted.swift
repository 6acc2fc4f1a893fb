package import AppleClientSecret
package import Rotation

/// A secret that was just made.
package struct Minted: Sendable {
    package let token: Token
    package let issued: SecretInfo
}
