package import AppleClientSecret

/// The place in the store of the secrets of one client, signed by one key. Two signers with different keys never share a slot.
///
/// The rules are:
/// - Its text is `TEAM/CLIENT_ID/KEYPRINT`, each part percent-encoded (RFC 3986: all but unreserved characters). For kinds
///   without a client id the middle part is ``ClientID``'s text, such as `music:`.
/// - KEYPRINT is the first 16 hexadecimal digits of the SHA-256 of the public key's DER SubjectPublicKeyInfo.
package struct StoreSlot: Hashable, Sendable, LosslessStringConvertible {
    package let team: TeamID
    package let client: ClientID
    /// 16 hexadecimal digits, in small letters.
    let keyPrint: String

    /// - Parameter keyDigest: the SHA-256 of the public key's DER SubjectPublicKeyInfo, in small hexadecimal letters.
    package init(team: TeamID, client: ClientID, keyDigest: String) {
        self.team = team
        self.client = client
        keyPrint = String(keyDigest.prefix(16))
    }

    /// The slot written in `text`; nil for any other form.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let team = TeamID(parts[0]),
            let client = PercentCoding.decode(parts[1].utf8).flatMap({ ClientID($0) }),
            Hex.isEncoded(String(parts[2]), digits: 16)
        else { return nil }
        self.team = team
        self.client = client
        keyPrint = String(parts[2])
        // Another text for the same slot is none.
        guard description == text else { return nil }
    }

    package var description: String {
        [team.description, client.description, keyPrint].map { PercentCoding.encode($0) }.joined(separator: "/")
    }
}
