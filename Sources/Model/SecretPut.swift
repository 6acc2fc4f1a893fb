/// A secret that is put into the store in one transaction with its rollout, if its place was last changed at this
/// revision.
package struct SecretPut: Hashable, Sendable {
    package let secret: SecretInfo
    package let revision: Int64

    package init(_ secret: SecretInfo, ifAt revision: Int64) {
        self.secret = secret
        self.revision = revision
    }
}
