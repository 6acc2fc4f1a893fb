internal import Failures
internal import Linux
internal import Model

extension FileError {
    /// The failure when the key file at `path` could not be opened.
    func keyFailure(at path: AbsolutePath) -> Failure {
        let file = path.description
        return switch code {
        case .missing, .directoryMissing, .notADirectory:
            Failure(.keyMissing, at: .path(path), detail: component(of: file))
        case .permissionDenied:
            Failure(.keyUnreadable, at: .path(path), cause: cause, detail: explanation(of: file), remedy: remedy)
        case .fileTooLarge:
            Failure(.keyTooLarge, at: .path(path))
        case .notGuarded, .unguardedDirectory, .foreignOwner:
            Failure(.keyNotGuarded, at: .path(path), detail: explanation(of: file), remedy: remedy)
        default:
            Failure(code, at: .path(path), cause: cause, detail: detail ?? component(of: file), remedy: remedy)
        }
    }

    /// The failure when the passphrase file at `path` could not be opened.
    func passphraseFailure(at path: AbsolutePath) -> Failure {
        let file = path.description
        return switch code {
        case .missing, .directoryMissing, .notADirectory:
            Failure(.passphraseUnusable, at: .path(path), detail: "there is no such file")
        case .permissionDenied:
            Failure(.passphraseUnusable, at: .path(path), cause: cause, detail: explanation(of: file), remedy: remedy)
        case .fileTooLarge:
            Failure(
                .passphraseUnusable, at: .path(path), detail: "it is longer than \(Passphrase.maximumLength) bytes")
        case .notGuarded, .unguardedDirectory, .foreignOwner:
            Failure(
                .passphraseUnusable, at: .path(path),
                detail: "other users can read or replace it: " + (explanation(of: file) ?? ""), remedy: remedy)
        default:
            Failure(code, at: .path(path), cause: cause, detail: detail ?? component(of: file), remedy: remedy)
        }
    }
}
