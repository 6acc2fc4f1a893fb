import Config
import Failures
import Keys
import Linux
import Model

/// A key in a file that the caller names, even if another user owns it.
enum NamedKey {
    /// The public key in PEM, or the public half of the private one.
    static func publicKey(_ file: String) throws(CommandFailure) -> PublicKey {
        let key = try read(file) { (descriptor, place) throws(Failure) in
            try PublicKey(descriptor: descriptor, place: place)
        }
        do throws(Failure) { return try key.get() } catch { throw CommandFailure(keyNamedByFlag: error) }
    }

    /// Throws if a file holds no private key that can be used. One with a passphrase may be one.
    ///
    /// - Parameter advice: the remedy if there is no command.
    static func check(_ file: String, otherwise advice: String) throws(CommandFailure) {
        func advised(_ error: CommandFailure) -> CommandFailure {
            CommandFailure(error.code, "\(error.message); \(advice)")
        }
        let key: Result<Void, Failure>
        do throws(CommandFailure) {
            key = try read(file) { (descriptor, place) throws(Failure) in
                _ = try SigningKey(descriptor: descriptor, place: place)
            }
        } catch {
            throw advised(error)
        }
        guard case .failure(let failure) = key, failure.code != .keyNeedsPassphrase else { return }
        let refusal = CommandFailure(keyNamedByFlag: failure)
        let hasCommand = failure.hasRemedyOfItsOwn && failure.remedy?.command != nil
        throw hasCommand ? refusal : advised(refusal)
    }

    private static func read<Key: Sendable>(
        _ file: String, _ body: @escaping @Sendable (Int32, Failure.Place) throws(Failure) -> Key
    ) throws(CommandFailure) -> Result<Key, Failure> {
        // It may be a private key.
        try Hardening.protectSecrets()
        let descriptor = try NamedFile.open(file)
        let number = descriptor.raw
        let path = ConfigurationLoader.absolutePath(of: file)
        return Result { () throws(Failure) in
            try DiskTimeout.require(
                at: path?.description ?? file,
                silence: Failure(.notResponding, at: .named(file), detail: DiskTimeout.words)
            ) { () throws(Failure) in
                // A damaged file with a path gets the command that repairs it. A pipe does not.
                let isFile = path.flatMap { FileStatus.following($0.description) }?.kind == .regular
                return try body(number, isFile ? path.map(Failure.Place.path) ?? .named(file) : .named(file))
            }
        }
    }
}
