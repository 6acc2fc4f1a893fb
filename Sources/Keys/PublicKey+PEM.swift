package import Rotation

extension PublicKey {
    /// Reads a key from an open file, to its end: a public or a private one in PEM, on P-256.
    ///
    /// - Parameters:
    ///   - descriptor: stays open; whoever opened it closes it.
    ///   - place: what the troubles name.
    ///   - passphrase: opens an encrypted private key; of no use to another.
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
