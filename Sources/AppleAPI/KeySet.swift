internal import AppleClientSecret

/// A JSON Web Key Set (RFC 7517): the public keys that an issuer signs identity tokens with.
package struct KeySet: Sendable {
    /// The numbers for verifying RS256; a key is created from them only when it is needed.
    private struct Numbers: Sendable {
        let modulus: [UInt8]
        let exponent: [UInt8]
    }

    private let keys: [String: Numbers]

    /// The key set in an answer's body. Members that are not RSA keys for signatures are skipped, as RFC 7517, section 5,
    /// requires. Nil when there is no list of keys.
    package init?(_ bytes: [UInt8]) {
        guard let members = (try? JSONValue(bytes))?["keys"]?.elements else { return nil }
        var keys: [String: Numbers] = [:]
        for member in members {
            guard member["kty"]?.text == "RSA", (member["use"]?.text ?? "sig") == "sig",
                (member["alg"]?.text ?? "RS256") == "RS256", let kid = member["kid"]?.text,
                let modulus = member["n"]?.text.flatMap({ Base64URL.decode(Array($0.utf8)) }),
                let exponent = member["e"]?.text.flatMap({ Base64URL.decode(Array($0.utf8)) })
            else { continue }
            keys[kid] = Numbers(modulus: modulus, exponent: exponent)
        }
        self.keys = keys
    }

    /// Whether a key with this id is among them.
    package func knows(_ kid: String) -> Bool {
        keys[kid] != nil
    }

    /// Whether the key with this id has signed `message`.
    func verifies(_ signature: [UInt8], of message: [UInt8], kid: String) -> Bool {
        guard let numbers = keys[kid],
            let key = RSAPublicKey(modulus: numbers.modulus, exponent: numbers.exponent)
        else { return false }
        return key.verifies(signature, of: message)
    }
}
