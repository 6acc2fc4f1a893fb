package import AppleClientSecret
import Digest
package import Model

/// Recognises a client secret in bytes that were read, and its signer.
package enum TokenReader {
    /// The public facts of the secret in `bytes`; its signer is the first of `keys` that verifies it. Nil when the bytes are no
    /// secret of a form that Apple accepts (``CompactJWS/objection(to:)`` says why).
    package static func read(_ bytes: [UInt8], keys: [PublicKey]) -> SecretInfo? {
        guard let jws = try? CompactJWS(bytes), let form = jws.form else { return nil }
        let signer = keys.first { $0.verifies(jws) }
        return SecretInfo(Token(bytes).name, form: form, signer: signer?.print)
    }

    /// The same for a token.
    package static func read(_ token: Token, keys: [PublicKey]) -> SecretInfo? {
        token.withBytes { read($0, keys: keys) }
    }

    /// Why a token is no client secret of a form that Apple accepts; nil if it is one.
    package static func objection(to token: Token) -> Objection? {
        token.withBytes { CompactJWS.objection(to: $0) }
    }
}
