package import AppleClientSecret

/// What a slot held when it was read. The signature is not checked here, but in the daemon, which has the public key.
package enum StoreFinding: Equatable, Sendable {
    /// There is no such key in etcd.
    case missing
    /// A compact JWS, at this revision of the key.
    case token(Token, revision: Int64)
    /// Something else, at this revision.
    case flawed(Flaw, revision: Int64)
    /// The role of this machine's user does not include the slot.
    case forbidden

    /// What is wrong with a value. Raw values stand in JSON.
    package enum Flaw: String, Hashable, Sendable, CaseIterable {
        /// It has more than ``StoreValue/longest`` bytes.
        case tooLong = "too_long"
        /// It is not the JSON of this version.
        case notAValue = "not_a_value"
    }

    package static func == (one: StoreFinding, other: StoreFinding) -> Bool {
        switch (one, other) {
        case (.missing, .missing), (.forbidden, .forbidden): true
        case (.token(let one, let revision), .token(let other, let another)):
            revision == another && one.withBytes { one in other.withBytes { one == $0 } }
        case (.flawed(let one, let revision), .flawed(let other, let another)): one == other && revision == another
        default: false
        }
    }
}

/// The bytes of a value in etcd: `{"v":1,"token":"…"}`.
///
/// The rules are:
/// - At most ``longest`` bytes; a longer value is not read.
/// - A version other than 1, a name that occurs twice or a token that is no compact JWS make it no value; further names
///   are left to later versions.
package enum StoreValue {
    /// In bytes.
    package static let longest = 16_384

    /// Nil for a token with which the value would be longer than ``longest``.
    package static func encode(_ token: Token) -> [UInt8]? {
        let bytes = StoreValueText(token: TokenText(token)).jsonText.bytes
        return bytes.count <= longest ? bytes : nil
    }

    /// What a key with this value holds.
    package static func decode(_ bytes: [UInt8], revision: Int64, sha256: ([UInt8]) -> [UInt8]) -> StoreFinding {
        guard bytes.count <= longest else { return .flawed(.tooLong, revision: revision) }
        guard let text = try? StoreValueText(parsing: bytes).token, text.parsed != nil,
            let token = text.token(sha256: sha256)
        else { return .flawed(.notAValue, revision: revision) }
        return .token(token, revision: revision)
    }
}

/// A value as it stands in JSON; its token may be anything.
private struct StoreValueText {
    let token: TokenText
}

extension StoreValueText: JSONDocument {
    init(_ value: Self?, _ members: inout JSONMembers) throws(JSONFlaw) {
        try members.constant("v", 1)
        token = try members("token", value?.token)
    }
}
