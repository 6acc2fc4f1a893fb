package import AppleClientSecret
package import Model

extension Claims {
    /// What secrets of the tests state, of the team `DEF123GHIJ` and the key `ABC123DEFG`.
    ///
    /// - Parameter number: makes it another one, by as many seconds.
    package static func sample(
        _ number: Int = 0, of client: String = "com.example.web", team: String = "DEF123GHIJ",
        keyID: String = "ABC123DEFG", issuedAt: Int64 = 1_790_000_000, expiresAt: Int64 = 1_797_776_060
    ) -> Claims {
        guard let team = TeamID(team), let keyID = KeyID(keyID), let client = ClientID(client) else {
            preconditionFailure("no ids")
        }
        return Claims(
            issuer: team, keyID: keyID, subject: client,
            issuedAt: WallTime(secondsSinceEpoch: issuedAt + Int64(number)),
            expiresAt: WallTime(secondsSinceEpoch: expiresAt + Int64(number)))
    }

    /// A secret that states this. Nobody has made its signature, because nothing that reads it looks at one.
    package func sampleToken(_ number: Int = 0) -> [UInt8] {
        signingInput + [UInt8(ascii: ".")] + Base64URL.encode((0..<64).map { UInt8(truncatingIfNeeded: $0 &+ number) })
    }

    /// The same as text.
    package var sampleText: String { String(decoding: sampleToken(), as: UTF8.self) }
}

extension SecretInfo {
    /// What is known of a secret with these claims.
    package static func sample(_ fingerprint: UInt64 = 1, _ claims: Claims = .sample()) -> SecretInfo {
        SecretInfo(fingerprint: Fingerprint(leadingBytes: fingerprint), claims: claims, signer: nil)
    }
}

extension FileFormat {
    /// The formats of the registry, which the core itself does not know.
    package static let raw = FileFormat(name: "raw")
    package static let json = FileFormat(name: "json")
    package static let env = FileFormat(name: "env", isShared: true)
}
