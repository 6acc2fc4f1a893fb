internal import AppleClientSecret
internal import Failures
internal import Linux
internal import Model

/// The action kind `exec`: a program that is run as a child process.
///
/// The rules:
/// - No other user may be able to replace the program or an interpreter of a script: that user would gain the daemon's
///   rights. This is checked before every run.
/// - Its environment is `PATH`, `LANG` and the clients concerned, without the daemon's variables. It runs several times if the
///   clients do not fit into one environment.
/// - It has failed unless it exits with 0 within its time limit; then it is run again after a pause (Rotation/RetryPause).
///   One that is cut off because the daemon stops runs again after the next start.
/// - Its output is logged without secrets: a hundred lines of the beginning and of the end.
package struct ExecAction: Sendable {
    let identity: Identity
    let cancel: EventCounter
    let redact: LoggedHookOutput.LineFilter
    let output: @Sendable (ActionID, String) -> Void

    /// - Parameter timeout: of each run.
    func run(
        _ arguments: [String], timeout: Seconds, _ covering: [ClientName: CoveredClient], of action: Action
    ) throws(Failure) {
        for portion in HookEnvironment.portions(of: covering) {
            try run(arguments, timeout: timeout, environment: HookEnvironment.variables(for: portion), of: action)
        }
    }

    private func run(
        _ arguments: [String], timeout: Seconds, environment: [String: String], of action: Action
    ) throws(Failure) {
        if let failure = Self.problem(with: action, as: identity) { throw failure }
        let id = action.id
        let report = try report(arguments, timeout: timeout, environment: environment, as: id)
        for line in LoggedHookOutput(report, redact).lines { output(id, line) }
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
            if let problem = ProgramFile(program, searchPath: HookEnvironment.searchPath).problem(after: error.errno) {
                throw Failure(problem, of: id)
            }
            throw Failure.notStarted(.actionNotStarted, at: .action(id), cause: error.number, detail: program)
        }
    }
}
