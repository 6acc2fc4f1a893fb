internal import AppleClientSecret
internal import Failures
package import Linux
package import Model
internal import Outputs
internal import SystemPackage

/// Why the program of an action could not be started, or should not be.
extension ExecAction {
    /// The programs that an action needs: its own, and the interpreters of a script.
    package static func programs(of action: Action) -> [String] {
        guard case .exec(let arguments, _) = action, let program = arguments.first else { return [] }
        return [program] + ProgramFile(program, searchPath: HookEnvironment.searchPath).interpreters
    }

    /// Why an action's program could not be started; nil when it could, or the action is of another kind. Blocks.
    package static func problem(with action: Action, as identity: Identity) -> Failure? {
        guard case .exec(let arguments, _) = action, let program = arguments.first else { return nil }
        do {
            _ = try TrustedFile.check(program, for: .executable, as: identity)
            let file = ProgramFile(program, searchPath: HookEnvironment.searchPath)
            if let failure = unguarded(among: file.deciding, of: action.id, as: identity) { return failure }
            return file.problem().map { Failure($0, of: action.id) }
        } catch {
            // Linux reports such a mount as a missing right.
            if error.code == .permissionDenied,
                ProgramFile(program, searchPath: HookEnvironment.searchPath).problem() == .mountedNoexec
            {
                return Failure(.mountedNoexec, of: action.id)
            }
            guard error.code != .missing, error.code != .directoryMissing else {
                return Failure(
                    .actionNotStarted, at: .action(action.id), cause: error.cause,
                    detail: "there is no \(Printable.name(error.path))",
                    remedy: .say(
                        "put the program there, then repeat the action", see: .deliver(nil)))
            }
            return Failure(error, at: program, of: action.id)
        }
    }

    /// An interpreter that another user could replace; nil if there is none. Problems of the interpreter itself are found with
    /// the script.
    private static func unguarded(
        among paths: [String], of action: ActionID, as identity: Identity
    ) -> Failure? {
        for path in paths {
            if let error = exposure(of: path, for: .executable, as: identity) {
                return Failure(error, at: path, of: action)
            }
        }
        return nil
    }

    /// That another user could change or replace a file; nil if none could, or the file has another problem.
    private static func exposure(of path: String, for use: TrustedFile.Use, as identity: Identity) -> FileError? {
        do throws(FileError) {
            try TrustedFile.check(path, for: use, as: identity)
            return nil
        } catch {
            return error.code == .notGuarded || error.code == .untrustedLink ? error : nil
        }
    }

    /// The arguments of an action that are files which other users could change: a shell that is given one runs it with the
    /// daemon's rights. A file may also be mere data. Blocks.
    package static func unguardedArguments(of action: Action, as identity: Identity) -> [String] {
        guard case .exec(let arguments, _) = action else { return [] }
        return arguments.dropFirst().filter { argument in
            argument.hasPrefix("/") && exposure(of: argument, for: .configuration, as: identity) != nil
                && FileStatus.following(argument)?.kind == .regular
        }
    }
}

extension Failure {
    /// Why a file that an action runs may not be used.
    fileprivate init(_ error: FileError, at path: String, of action: ActionID) {
        let failure = AbsolutePath(path).map { Failure(error, at: $0) }
        let unguarded =
            error.code == .notGuarded
            ? "other users can change \(Printable.name(error.path)): \(error.detail ?? "it is not guarded")" : nil
        self.init(
            .actionNotStarted, at: .action(action), detail: unguarded ?? failure?.message ?? error.description,
            remedy: failure?.remedy ?? error.remedy)
    }

    /// Why Linux would not execute it.
    init(_ problem: ProgramProblem, of action: ActionID) {
        self.init(
            .actionNotStarted, at: .action(action), detail: problem.words,
            remedy: .say(problem.advice, see: .deliver(nil)))
    }
}
