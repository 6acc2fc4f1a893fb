import AppleClientSecret
import Formats
import Model

@testable import Keys

/// A token is taken apart without loss, or refused; what counts as a client secret states what is minted from its
/// claims.
enum TokenTarget {
    static func run(_ bytes: [UInt8]) throws {
        let json = JSONFormat(parameter: nil)
        if case .token(let token)? = json.parse(bytes, slots: [.whole]).slots[.whole] {
            try check(token)
            let read = try known(TokenReader.read(token, keys: []))
            let again = json.render([.whole: RenderedSecret(token: token, claims: read.claims)], into: [])
            try promise(
                json.parse(again, slots: [.whole]).slots[.whole] == .token(token), "a JSON file that is not read back"
            )
        }
        if case .token(let token)? = RawFormat(parameter: nil).parse(bytes, slots: [.whole]).slots[.whole] {
            let blanks = Set<UInt8>(9...13).union([32])
            let text = Array(bytes.drop(while: blanks.contains).reversed().drop(while: blanks.contains).reversed())
            try promise(token == text, "a raw file that holds something else")
            try check(token)
        }
        let template = TemplateFormat(parameter: "id={{client_id}} {{client_secret}}\n")
        if case .token(let token)? = try template.parse(bytes, slots: [.whole]).slots[.whole] { try check(token) }
        try check(bytes)
    }

    private static func check(_ bytes: [UInt8]) throws {
        guard let jws = try? CompactJWS(bytes) else { return }
        try promise(
            jws.signingInput + [UInt8(ascii: ".")] + Base64URL.encode(jws.signature) == bytes,
            "a token that is not what its parts are")
        for moment in [jws.stated.issuedAt, jws.stated.expiresAt].compactMap(\.value?.moment) {
            _ = (moment + Claims.backdating).description
        }
        guard let claims = jws.claims else { return }
        let minted = claims.signingInput + [UInt8(ascii: ".")] + Base64URL.encode(jws.signature)
        let again = try CompactJWS(minted)
        try promise(again.claims == claims, "claims that are not read back")
        try promise(
            try TokenReader.read(bytes, keys: [key()]).map { $0.expiresAt } == claims.expiresAt, "not taken over")
    }

    /// The public key of RFC 7515, appendix A.3.
    private static func key() throws -> PublicKey {
        let head: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        ]
        let x = try known(Base64URL.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU".utf8))
        let y = try known(Base64URL.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0".utf8))
        return try known(PublicKey(spki: head + x + y))
    }
}
