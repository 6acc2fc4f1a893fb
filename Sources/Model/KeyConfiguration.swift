package import AppleClientSecret

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
