internal import Failures
internal import Linux
internal import Rotation

extension FileError {
    /// The failure when the key file at `path` could not be opened.
    func keyFailure(at path: AbsolutePath) -> Failure {
        switch kind {
        case .missing, .directoryMissing, .notADirectory: Failure(.keyMissing, at: .path(path), detail: component(path))
        case .permissionDenied:
            Failure(.keyUnreadable, at: .path(path), cause: cause, detail: known(path), remedy: remedy)
        case .fileTooLarge: Failure(.keyTooLarge, at: .path(path))
        case _ where isUnguarded: Failure(.keyNotGuarded, at: .path(path), detail: explanation(path), remedy: remedy)
        default: failure(at: path, otherwise: .keyUnreadable)
        }
    }

    /// The failure when the passphrase file at `path` could not be opened.
    func passphraseFailure(at path: AbsolutePath) -> Failure {
        switch kind {
        case .missing, .directoryMissing, .notADirectory:
            Failure(.passphraseUnusable, at: .path(path), detail: "there is no such file")
        case .permissionDenied:
            Failure(.passphraseUnusable, at: .path(path), cause: cause, detail: known(path), remedy: remedy)
        case .fileTooLarge:
            Failure(
                .passphraseUnusable, at: .path(path), detail: "it is longer than \(Passphrase.maximumLength) bytes")
        case _ where isUnguarded:
            Failure(
                .passphraseUnusable, at: .path(path), detail: "others could read or replace it: " + explanation(path),
                remedy: remedy)
        default: failure(at: path, otherwise: .passphraseUnusable)
        }
    }

    private var isUnguarded: Bool {
        [.notGuarded, .untrustedLink, .unguardedDirectory, .foreignOwner].contains(kind)
    }

    /// Kinds have the same names as the codes that mean the same.
    private func failure(at path: AbsolutePath, otherwise code: Failure.Code) -> Failure {
        Failure(
            Failure.Code(rawValue: kind.rawValue) ?? code, at: .path(path), cause: cause,
            detail: detail ?? component(path), remedy: remedy)
    }

    /// The path component at fault; nil when that is the file itself.
    private func component(_ file: AbsolutePath) -> String? {
        path == file.description ? nil : Printable.name(path)
    }

    /// The explanation; nil when it is empty.
    private func known(_ file: AbsolutePath) -> String? {
        let text = explanation(file)
        return text.isEmpty ? nil : text
    }

    /// The component, and what is wrong with it.
    private func explanation(_ file: AbsolutePath) -> String {
        [component(file), detail].compactMap { $0 }.joined(separator: ": ")
    }
}
