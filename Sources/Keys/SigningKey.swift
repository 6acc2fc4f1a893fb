package import AppleClientSecret
internal import CLibcrypto
internal import Failures
internal import Linux
package import Rotation

/// A private key from Apple, ready to sign. Its scalar is in the secure heap and nowhere else.
package final class SigningKey: Sendable {
    /// The public half; it verifies everything that this key signs.
    package let publicKey: PublicKey

    /// What failures of this key name.
    private let place: Failure.Place
    private let signer: QuietMutex<OperationHandle>

    /// Signed once when a key is loaded, to check that its halves belong together; not the form of any token.
    private static let probe = Array("clientsecretd looks whether both halves of a key belong together".utf8)

    /// Reads a key from an open file, to its end: PKCS#8 in PEM on P-256, encrypted or not.
    ///
    /// - Parameters:
    ///   - descriptor: stays open; the caller closes it.
    ///   - place: what failures name, now and when signing fails.
    ///   - passphrase: decrypts an encrypted key; else ignored.
    package init(
        descriptor: Int32, place: Failure.Place, passphrase: borrowing Passphrase? = nil
    ) throws(Failure) {
        self.place = place
        do throws(KeyFlaw) {
            let key = try KeyText(descriptor: descriptor).privateKey(passphrase: passphrase)
            publicKey = try PublicKey(key)
            guard let signer = OperationHandle.signing(with: key) else { throw KeyFlaw(.outOfMemory) }
            self.signer = QuietMutex(signer)
            guard let signature = sign(Self.probe) else { throw KeyFlaw(.signingFailed) }
            guard publicKey.verifies(signature, of: Self.probe) else {
                throw KeyFlaw(.keyMalformed, "its public half belongs to another key")
            }
        } catch {
            throw error.failure(at: place)
        }
    }

    /// The digest that identifies this key.
    package var print: KeyDigest { publicKey.print }

    /// Mints the secret with `claims`, and verifies it with the public half before returning it.
    package func mint(_ claims: Claims) throws(Failure) -> Minted {
        let input = claims.signingInput
        guard let signature = sign(input) else { throw Failure(.signingFailed, at: place) }
        guard publicKey.verifies(signature, of: input) else { throw Failure(.selfCheckFailed, at: place) }
        let token = Token(input + [UInt8(ascii: ".")] + Base64URL.encode(signature))
        return Minted(
            token: token, issued: SecretInfo(fingerprint: token.fingerprint, claims: claims, signer: print))
    }

    private func sign(_ message: [UInt8]) -> [UInt8]? {
        let digest = SHA256.digest(message)
        return signer.withLock { $0.sign(digest: digest) }?.raw
    }
}
