/// A possible secret in another program's file.
package enum SecretCandidate: Hashable, Sendable {
    /// Any bytes in the secret's place.
    case bytes([UInt8])
    /// Why there is none, as the end of a sentence.
    case missing(String)
}
