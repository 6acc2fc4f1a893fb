extension CompactJWS {
    /// The length of an ES256 signature: two 32-byte numbers (RFC 7518, section 3.4).
    package static let signatureLength = 64

    /// The claims of a client secret of the form that this package mints, so that an existing one can be adopted; nil
    /// for any other token. The signature is not checked here, nor whether the token has expired.
    ///
    /// Stricter than RFC 7519: ES256 alone, well-formed ids, Apple's audience as one text, whole seconds, `iat` before
    /// `exp`. A header with `crit` (RFC 7515, section 4.1.11) or a payload with `nbf` is refused, because it sets rules
    /// that are not implemented here. Other names are accepted.
    public var claims: Claims? {
        guard stated.algorithm == .value("ES256"), signature.count == Self.signatureLength,
            !stated.audienceIsList, stated.audience == .value([Claims.audience]),
            !stated.otherHeaderNames.contains("crit"), !stated.otherClaimNames.contains("nbf"),
            let issuer = stated.issuer.value.flatMap({ TeamID($0) }),
            let keyID = stated.keyID.value.flatMap({ KeyID($0) }),
            let subject = stated.subject.value.flatMap({ ClientID($0) }),
            case .value(.whole(let issuedAt)) = stated.issuedAt,
            case .value(.whole(let expiresAt)) = stated.expiresAt, issuedAt < expiresAt
        else { return nil }
        return Claims(
            issuer: issuer, keyID: keyID, subject: subject, issuedAt: issuedAt, expiresAt: expiresAt)
    }
}
