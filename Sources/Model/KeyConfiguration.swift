package import AppleClientSecret
internal import Failures

/// One key issued by Apple: the private key and where to read it, or only the public half.
package struct KeyConfiguration: Hashable, Sendable {
    package var team: TeamID
    package var keyID: KeyID
    package var location: Location
    /// The place of the passphrase of an encrypted PKCS#8 file; nil for a key that is not encrypted.
    package var passphrase: Location?

    package enum Location: Hashable, Sendable {
        case file(AbsolutePath)
        /// The name of a systemd credential, a file below `$CREDENTIALS_DIRECTORY`.
        case credential(String)
        /// No private key, but its public half as a DER SubjectPublicKeyInfo: it recognises secrets and mints none.
        case publicKey([UInt8])
    }

    /// Whether it is only the public half.
    package var isPublic: Bool {
        if case .publicKey = location { true } else { false }
    }

    /// The names of the credentials that it is read from: its own, and its passphrase's.
    package var credentials: [String] {
        [location, passphrase].compactMap { place -> String? in
            if case .credential(let name)? = place { name } else { nil }
        }
    }

    package init(team: TeamID, keyID: KeyID, location: Location, passphrase: Location? = nil) {
        self.team = team
        self.keyID = keyID
        self.location = location
        self.passphrase = passphrase
    }
}

/// The SHA-256 digest of a key's public half (its DER SubjectPublicKeyInfo), in lower-case hexadecimal; shows whether a
/// key file still holds the same key.
package struct KeyDigest: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// The digest written in `text`; nil unless it is 64 lower-case hexadecimal digits.
    package init?(_ text: some StringProtocol) {
        // A string, because code for any text is several times as slow.
        let text = String(text)
        guard Hex.isEncoded(text, digits: 64) else { return nil }
        description = text
    }
}

extension KeyDigest: JSONString {
    package init?(jsonString text: String) { self.init(text) }
}

/// Another key than before was found under one key id. Apple never gives two keys one id, so it is probably a mistake. Apple
/// then refuses the secrets that the wrong key signed, although every check here passes.
package struct KeyChange: Hashable, Sendable {
    package let keyID: KeyID
    package let from: KeyDigest
    package let to: KeyDigest
    package let at: WallTime

    package init(keyID: KeyID, from: KeyDigest, to: KeyDigest, at: WallTime) {
        self.keyID = keyID
        self.from = from
        self.to = to
        self.at = at
    }

    /// How long a change is reported: one day.
    package static let reportedFor: Seconds = 86_400

    /// The failure that reports the change.
    package func failure(of key: KeyName) -> Failure {
        Failure(
            .keyChanged, at: .key(key), detail: "\(keyID) was \(from.fingerprint) and is \(to.fingerprint)")
    }
}

extension KeyDigest {
    /// The key's display name, formed as a secret's: the beginning of the digest.
    package var fingerprint: String { "sha256:" + description.prefix(16) }
}
