import Glibc
import Linux
import Publishing
import Rotation

/// Finds out whether something would work without doing it.
enum Probe {
    /// What would keep the daemon from writing a file that it can read; nil when nothing is known to.
    static func trouble(of spec: FileSpec, as identity: Identity) -> Trouble? {
        if spec.owner != nil { return nil }
        do {
            let directory = try GuardedPath.directory(spec.path.directory.description, as: identity)
            if unsafe access(directory, W_OK | X_OK) != 0 {
                let code: Trouble.Code = errno == EROFS ? .readOnlyFileSystem : .permissionDenied
                return Trouble(code, at: .path(spec.path), cause: errno, detail: directory)
            }
        } catch {
            return Trouble(error, at: spec.path)
        }
        guard let group = spec.group else { return nil }
        guard let id = (try? Accounts.groupID(group)).flatMap({ $0 }) else {
            return Trouble(.unknownGroup, at: .path(spec.path), detail: group)
        }
        if identity.user != 0, !identity.belongs(to: id) {
            return Trouble(.groupNotPermitted, at: .path(spec.path), detail: group)
        }
        return nil
    }

    /// What would keep an action from being started.
    static func trouble(of action: Action, as identity: Identity) -> Trouble? {
        guard case .exec(let arguments, _) = action, let program = arguments.first else { return nil }
        do {
            _ = try TrustedFile.check(program, for: .executable, as: identity)
            return nil
        } catch {
            return Trouble(
                .actionNotStarted, at: .action(action.id), cause: error.cause,
                detail: error.description + (error.remedy.map { "; " + $0 } ?? ""))
        }
    }
}
