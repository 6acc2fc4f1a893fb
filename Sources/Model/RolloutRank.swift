package import AppleClientSecret
internal import Digest

/// In which order machines deliver a secret: each one has a number that differs from secret to secret, and that every
/// machine can compute.
package enum RolloutRank {
    /// The first eight bytes of the SHA-256 of the machine's name, a line feed, and the secret's fingerprint as text. No
    /// name has a line feed in it.
    package static func of(_ machine: String, _ fingerprint: Fingerprint) -> UInt64 {
        SHA256.digest(Array("\(machine)\n\(fingerprint)".utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// This part of a span of time, from nothing for the lowest rank to all of it for the highest.
    package static func part(_ rank: UInt64, of span: Seconds) -> Seconds {
        Seconds(Int64(Double(rank) / 0x1p64 * Double(span.count)))
    }
}
