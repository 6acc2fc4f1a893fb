internal import AppleClientSecret
internal import Failures
package import Linux
package import Model
internal import Outputs
internal import SystemPackage

/// The action kind `exec`: a program that is run as a child process.
///
/// The rules:
/// - No other user may be able to replace the program or an interpreter of a script: that user would gain the daemon's
///   rights. This is checked before every run.
/// - Its environment is `PATH`, `LANG` and what it is run for; nothing of the daemon's own. For more clients than fit into
///   one it runs several times.
/// - It has failed unless it exits with 0 within its time limit; then it is run again after a pause (Rotation/Retry).
///   One that is cut off because the daemon stops runs again after the next start.
/// - What it prints is logged without secrets, a hundred lines of its beginning and of its end.
package struct ExecAction: Sendable {
    let identity: Identity
    let cancel: EventCounter
    let redact: HookLogLines.LineFilter
    let output: @Sendable (ActionID, String) -> Void

    /// `PATH` of every program: Debian's directories, no others.
    private static let searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    /// In bytes, of the names and paths that one run is passed: Linux takes at least 131,072 for all arguments and the
    /// environment (execve(2)).
    static let longestPortion = 100_000

    /// - Parameter timeout: of each run.
    func run(
        _ arguments: [String], timeout: Seconds, _ covering: [ClientName: Covered], of action: Action
    ) throws(Failure) {
        for portion in Self.portions(of: covering) {
            try run(arguments, timeout: timeout, environment: Self.environment(portion), of: action)
        }
    }

    private func run(
        _ arguments: [String], timeout: Seconds, environment: [String: String], of action: Action
    ) throws(Failure) {
        if let failure = Self.problem(with: action, as: identity) { throw failure }
        let id = action.id
        let report = try report(arguments, timeout: timeout, environment: environment, as: id)
        for line in HookLogLines(report, redact).lines { output(id, line) }
        switch report.ending {
        case .exited(0): return
        case .exited(let status): throw Failure(.actionFailed, at: .action(id), detail: "exit status \(status)")
        case .signalled(let number): throw Failure(.actionFailed, at: .action(id), detail: "signal \(number)")
        case .timedOut: throw Failure(.actionTimedOut, at: .action(id), detail: "\(timeout.count) s")
        case .cancelled: throw Failure(.actionInterrupted, at: .action(id))
        }
    }

    private func report(
        _ arguments: [String], timeout: Seconds, environment: [String: String], as id: ActionID
    ) throws(Failure) -> ExitReport {
        do {
            return try ChildProcess.run(
                arguments, environment: environment, timeout: timeout.count * 1000, cancel: cancel)
        } catch {
            let program = arguments.first ?? ""
            if let problem = ProgramFile(program, searchPath: Self.searchPath).problem(afterFailure: true) {
                throw Failure(problem, of: id)
            }
            throw Failure(.actionNotStarted, at: .action(id), cause: error.number, detail: program)
        }
    }

    /// A client and what an action is passed about it.
    private typealias Client = (key: ClientName, value: Covered)

    /// The clients of each run, in the order of their names. State-change actions cover none, and run once.
    private static func portions(of covering: [ClientName: Covered]) -> [[Client]] {
        var portions: [[Client]] = [[]]
        var length = 0
        for client in covering.sorted(by: { $0.key < $1.key }) {
            let texts = [client.key.description, client.value.issued.client.description]
            let own = (texts + client.value.outputs.map(\.description)).reduce(0) { $0 + $1.utf8.count + 1 }
            if length + own > longestPortion, portions.last?.isEmpty == false {
                portions.append([])
                length = 0
            }
            portions[portions.count - 1].append(client)
            length += own
        }
        return portions
    }

    private static func environment(_ clients: [Client]) -> [String: String] {
        var variables = ["PATH": searchPath, "LANG": "C.UTF-8"]
        guard !clients.isEmpty else { return variables }
        func lines(_ values: [String]) -> String { values.joined(separator: "\n") }
        variables["CLIENTSECRETD_CLIENT"] = lines(clients.map(\.key.description))
        variables["CLIENTSECRETD_CLIENT_ID"] = lines(clients.map { $0.value.issued.client.identifier ?? "" })
        variables["CLIENTSECRETD_OUTPUTS"] = lines(clients.flatMap { $0.value.outputs.map(\.description) })
        return variables
    }

    /// The programs that an action needs: its own, and the interpreters of a script.
    package static func programs(of action: Action) -> [String] {
        guard case .exec(let arguments, _) = action, let program = arguments.first else { return [] }
        return [program] + ProgramFile(program, searchPath: searchPath).interpreters
    }

    /// Why an action's program could not be started; nil when it could, or the action is of another kind. Blocks.
    package static func problem(with action: Action, as identity: Identity) -> Failure? {
        guard case .exec(let arguments, _) = action, let program = arguments.first else { return nil }
        do {
            _ = try TrustedFile.check(program, for: .executable, as: identity)
            let file = ProgramFile(program, searchPath: searchPath)
            if let failure = unguarded(among: file.deciding, of: action.id, as: identity) { return failure }
            return file.problem().map { Failure($0, of: action.id) }
        } catch {
            // Linux reports such a mount as a missing right.
            if error.code == .permissionDenied,
                ProgramFile(program, searchPath: searchPath).problem() == .mountedNoexec
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

    /// An interpreter that another user could replace; nil where there is none. What is wrong with one otherwise is found with
    /// the script.
    private static func unguarded(
        among paths: [String], of action: ActionID, as identity: Identity
    ) -> Failure? {
        for path in paths {
            do throws(FileError) {
                try TrustedFile.check(path, for: .executable, as: identity)
            } catch {
                guard error.code == .notGuarded || error.code == .untrustedLink else { continue }
                return Failure(error, at: path, of: action)
            }
        }
        return nil
    }

    /// The arguments of an action that are files which other users could change: a shell that is given one runs it with the
    /// daemon's rights. A file may also be mere data. Blocks.
    package static func unguardedArguments(of action: Action, as identity: Identity) -> [String] {
        guard case .exec(let arguments, _) = action else { return [] }
        return arguments.dropFirst().filter { argument in
            guard argument.hasPrefix("/") else { return false }
            do throws(FileError) {
                try TrustedFile.check(argument, for: .configuration, as: identity)
                return false
            } catch {
                let isUnguarded = error.code == .notGuarded || error.code == .untrustedLink
                return isUnguarded && FileStatus.following(argument)?.kind == .regular
            }
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
}

extension Failure {
    fileprivate init(_ problem: ProgramProblem, of action: ActionID) {
        let firstLine = "fix the program's first line, then repeat the action"
        let (detail, words) =
            switch problem {
            case .mountedNoexec:
                (
                    "its file system is mounted noexec",
                    "put the program on another file system, such as below /usr/local/bin, and name it there"
                )
            case .carriageReturn:
                (
                    "its first line ends in a carriage return, as Windows writes line ends",
                    "save it with Unix line ends, then repeat the action"
                )
            case .byteOrderMark:
                ("a byte-order mark is before its first line", "save it as UTF-8 without that, then repeat the action")
            case .interpreterMissing(let name):
                (
                    "its interpreter \(Printable.name(name)) does not exist",
                    "install the interpreter, or \(firstLine)"
                )
            case .interpreterNotExecutable(let name):
                ("its interpreter \(Printable.name(name)) may not be executed", firstLine)
            case .notFoundByEnv(let name) where name.contains(" "):
                (
                    "env takes \(Printable.name(name)) as the name of one program",
                    "write env -S, or the interpreter's whole path, into the first line, then repeat the action"
                )
            case .notFoundByEnv(let name):
                (
                    "env finds no program \(Printable.name(name)) in the PATH of actions",
                    "write the interpreter's whole path into the first line, then repeat the action"
                )
            case .noFormat:
                (
                    "it is neither a script with a first line such as #!/bin/sh nor a whole program",
                    "write that first line, then repeat the action"
                )
            case .otherMachine:
                (
                    "it is a program for another kind of machine",
                    "install the program for this machine, then repeat the action"
                )
            }
        self.init(
            .actionNotStarted, at: .action(action), detail: detail,
            remedy: .say(words, see: .deliver(nil)))
    }
}
