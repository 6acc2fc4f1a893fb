import Config
import Failures
import Keys
import Linux
import Model

/// A key in a file that the caller names, whichever user owns it.
enum NamedKey {
    /// The public key in PEM, or the public half of the private one.
    static func publicKey(_ file: String) throws(CommandFailure) -> PublicKey {
        let key = try read(file)
        do throws(Failure) { return try key.get() } catch { throw CommandFailure(keyNamedByFlag: error) }
    }

    /// Throws where a file holds no key that can be used. One with a passphrase may be one.
    static func check(_ file: String) throws(CommandFailure) {
        guard case .failure(let failure) = try read(file), failure.code != .keyNeedsPassphrase else { return }
        throw CommandFailure(keyNamedByFlag: failure)
    }

    private static func read(_ file: String) throws(CommandFailure) -> Result<PublicKey, Failure> {
        // It may be a private key.
        try Hardening.protectSecrets()
        let descriptor = try NamedFile.open(file)
        let number = descriptor.raw
        return Result { () throws(Failure) in
            try DiskTimeout.require(
                at: ConfigurationLoader.absolutePath(of: file)?.description ?? file,
                silence: Failure(.notResponding, at: .named(file), detail: DiskTimeout.words)
            ) { () throws(Failure) in
                try PublicKey(descriptor: number, place: .named(file))
            }
        }
    }
}
