import Failures
import Glibc
import Linux
import Outputs
import Rotation

/// Finds out whether something would work without doing it.
enum Probe {
    /// What would keep the state directory from being used.
    static func failure(ofState path: AbsolutePath, as identity: Identity) -> Failure? {
        // One that is missing is made, where its parent may be written to.
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

    /// What would keep a program from being started.
    static func failure(of action: Action, as identity: Identity) -> Failure? {
        guard case .exec(let arguments, _) = action else { return nil }
        guard let program = arguments.first else { return nil }
        do {
            _ = try TrustedFile.check(program, for: .executable, as: identity)
            return nil
        } catch {
            guard error.kind != .missing, error.kind != .directoryMissing else {
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
