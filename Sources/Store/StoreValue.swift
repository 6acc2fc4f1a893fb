package import AppleClientSecret

/// The bytes of a secret in etcd: `{"v":1,"token":"…"}`.
///
/// The rules are:
/// - At most ``StoreEntry/longest`` bytes.
/// - A version other than 1, a name that occurs twice or a token that is no compact JWS make it no value; further names
///   are left to later versions.
package enum StoreValue {
    /// Nil for a token with which the value would be too long.
    package static func encode(_ token: Token) -> [UInt8]? {
        let bytes = StoreValueText(token: TokenText(token)).jsonText.bytes
        return bytes.count <= StoreEntry.longest ? bytes : nil
    }

    /// The token in a value; nil for anything else. Its signature is not checked.
    package static func decode(_ bytes: [UInt8], sha256: ([UInt8]) -> [UInt8]) -> Token? {
        guard let text = try? StoreValueText(parsing: bytes).token, text.parsed != nil else { return nil }
        return text.token(sha256: sha256)
    }
}

/// A value as it is in JSON; its token may be anything.
private struct StoreValueText {
    let token: TokenText
}

extension StoreValueText: JSONDocument {
    init(_ value: Self?, _ members: inout JSONMembers) throws(JSONError) {
        try members.constant("v", 1)
        token = try members("token", value?.token)
    }
}
