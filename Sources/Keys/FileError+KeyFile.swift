internal import Failures
internal import Linux
internal import Model

extension FileError {
    /// The failure when the key file at `path` could not be opened.
    func keyFailure(at path: AbsolutePath) -> Failure {
        failure(
            at: path, missing: (.keyMissing, component(of: path.description)), denied: .keyUnreadable,
            tooLarge: (.keyTooLarge, nil), notGuarded: (.keyNotGuarded, ""))
    }

    /// The failure when the passphrase file at `path` could not be opened.
    func passphraseFailure(at path: AbsolutePath) -> Failure {
        failure(
            at: path, missing: (.passphraseUnusable, "there is no such file"), denied: .passphraseUnusable,
            tooLarge: (.passphraseUnusable, "it is longer than \(Passphrase.maximumLength) bytes"),
            notGuarded: (.passphraseUnusable, "other users can read or replace it: "))
    }

    /// - Parameter notGuarded: the code, and the beginning of the detail.
    private func failure(
        at path: AbsolutePath, missing: (Failure.Code, String?), denied: Failure.Code,
        tooLarge: (Failure.Code, String?), notGuarded: (Failure.Code, String)
    ) -> Failure {
        let file = path.description
        let explanation = explanation(of: file)
        return switch code {
        case .missing, .directoryMissing, .notADirectory: Failure(missing.0, at: .path(path), detail: missing.1)
        case .permissionDenied: Failure(denied, at: .path(path), cause: cause, detail: explanation, remedy: remedy)
        case .fileTooLarge: Failure(tooLarge.0, at: .path(path), detail: tooLarge.1)
        case .notGuarded, .unguardedDirectory, .foreignOwner:
            Failure(notGuarded.0, at: .path(path), detail: explanation.map { notGuarded.1 + $0 }, remedy: remedy)
        default:
            Failure(code, at: .path(path), cause: cause, detail: detail ?? component(of: file), remedy: remedy)
        }
    }
}
