import Failures
import Glibc
import Linux
import Outputs
import Rotation

/// Checks whether something would work without doing it.
enum Probe {
    /// Why the state directory could not be used; nil when it could.
    static func failure(ofState path: AbsolutePath, as identity: Identity) -> Failure? {
        // A missing one is made later, which needs a writable parent.
        let isThere = FileStatus.following(path.description) != nil
        let place = isThere ? path : path.directory
        do {
            let directory = try GuardedPath.directory(place.description, as: identity)
            if unsafe access(directory, W_OK | X_OK) == 0 { return nil }
            return Failure(.stateUnusable, at: .path(path), cause: errno, detail: isThere ? nil : directory)
        } catch {
            return Failure(
                .stateUnusable, at: .path(path), cause: error.cause, detail: Failure(error, at: place).message,
                remedy: error.remedy)
        }
    }

    /// Why a program could not be started; nil when it could.
    static func failure(of action: Action, as identity: Identity) -> Failure? {
        guard case .exec(let arguments, _) = action else { return nil }
        guard let program = arguments.first else { return nil }
        do {
            _ = try TrustedFile.check(program, for: .executable, as: identity)
            return nil
        } catch {
            guard error.code != .missing, error.code != .directoryMissing else {
                return Failure(
                    .actionNotStarted, at: .action(action.id), cause: error.cause,
                    detail: "there is no \(Printable.name(error.path))",
                    remedy: .say(
                        "put the program there, then have it run", run: "clientsecretd renew --deliver-only"))
            }
            let failure = AbsolutePath(program).map { Failure(error, at: $0) }
            return Failure(
                .actionNotStarted, at: .action(action.id), detail: failure?.message ?? error.description,
                remedy: failure?.remedy ?? error.remedy)
        }
    }
}
