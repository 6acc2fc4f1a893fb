extension Claims {
    /// The JWS signing input (RFC 7515, section 5.1): the protected header and the claims, each base64url, with a dot
    /// between. No value needs escaping in JSON: the types allow no character that would.
    public var signingInput: [UInt8] {
        let rules = subject.kind.rules
        let header = #"{"alg":"ES256","kid":"\#(keyID)"\#(rules.hasType ? #","typ":"JWT""# : "")}"#
        var claims = [
            #""iss":"\#(issuer)""#, #""iat":\#(issuedAt.secondsSinceEpoch)"#, #""exp":\#(expiresAt.secondsSinceEpoch)"#,
        ]
        if let audience = rules.audience, let client = subject.identifier {
            claims += [#""aud":"\#(audience)""#, #""sub":"\#(client)""#]
        }
        let origins = subject.origins.map { "\"\($0)\"" }
        if !origins.isEmpty {
            let list = origins.joined(separator: ",")
            claims.append(#""origin":"# + (rules.origins == .list ? "[\(list)]" : list))
        }
        if let scope = subject.scope { claims.append(#""scope":"\#(scope)""#) }
        let payload = "{" + claims.joined(separator: ",") + "}"
        return Base64URL.encode(Array(header.utf8)) + [UInt8(ascii: ".")] + Base64URL.encode(Array(payload.utf8))
    }
}
