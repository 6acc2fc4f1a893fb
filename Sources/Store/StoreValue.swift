package import AppleClientSecret
import Digest

/// The bytes of a secret in etcd: `{"v":1,"token":"…"}`.
///
/// The rules are:
/// - At most ``StoreEntry/longest`` bytes.
/// - A version other than 1, a name that occurs twice or a token that is no compact JWS make it no value. Further names are
///   left to later versions.
package struct StoreValue {
    private let token: Token

    /// Nil for a token with which the value would be too long.
    package static func encode(_ token: Token) -> [UInt8]? {
        let bytes = StoreValue(token: token).jsonText.bytes
        return bytes.count <= StoreEntry.longest ? bytes : nil
    }

    /// The token in a value; nil for anything else. Its signature is not checked.
    package static func decode(_ bytes: [UInt8]) -> Token? {
        guard let token = try? StoreValue(parsing: bytes).token, token.parsed != nil else { return nil }
        return token
    }
}

extension StoreValue: JSONDocument {
    package init(_ value: StoreValue?, _ members: inout JSONMembers) throws(JSONError) {
        try members.constant("v", 1)
        token = try members("token", value?.token)
    }
}
