package import Rotation

extension PublicKey {
    /// Reads a key from an open file, to its end: a public or a private one in PEM, on P-256.
    ///
    /// - Parameters:
    ///   - descriptor: stays open; the caller closes it.
    ///   - place: what failures name.
    ///   - passphrase: decrypts an encrypted private key; else ignored.
    package convenience init(
        descriptor: Int32, place: Failure.Place, passphrase: borrowing Passphrase? = nil
    ) throws(Failure) {
        do throws(KeyFlaw) {
            try self.init(KeyText(descriptor: descriptor).publicKey(passphrase: passphrase))
        } catch {
            throw error.failure(at: place)
        }
    }
}
