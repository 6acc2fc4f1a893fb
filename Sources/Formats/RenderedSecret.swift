package import AppleClientSecret

/// A secret as formats write it.
package struct RenderedSecret: Sendable {
    package let token: [UInt8]
    package let claims: Claims

    package init(token: [UInt8], claims: Claims) {
        self.token = token
        self.claims = claims
    }
}
