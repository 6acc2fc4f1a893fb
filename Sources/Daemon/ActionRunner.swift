import AppleClientSecret
import Failures
import Linux
import Rotation
import SystemPackage
import Systemd

/// Runs actions: programs as child processes, unit actions through systemd. Throws why one failed.
struct ActionRunner: Sendable {
    let log: Log
    let secretCache: SecretCache
    let identity: Identity
    /// Signalled at shutdown: a hook that is still running then counts as interrupted.
    let cancel: EventCounter
    private let ended = EndedStarts()

    /// `PATH` of every hook: Debian's directories, no others.
    private static let searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    func run(_ action: Action, _ covering: [ClientName: Covered]) throws(Failure) {
        switch action {
        case .exec(let arguments, let timeout):
            // Another user who can replace the program would gain the daemon's rights.
            if let failure = Probe.failure(of: action, as: identity) { throw failure }
            try execute(arguments, timeout: timeout, environment: environment(covering), as: action.id)
        case .unit, .signal:
            try UnitRunner(cancel: cancel, ended: ended).run(action)
        }
    }

    /// Why an action could not run, without running it; nil when it could. Blocks.
    func obstacle(to action: Action) -> Failure? {
        if let failure = Probe.failure(of: action, as: identity) { return failure }
        let found = UnitRunner(cancel: cancel).obstacles(to: [action], as: identity.user)[action]
        // An interrupted probe says nothing about the action.
        return found?.code == .actionInterrupted ? nil : found
    }

    private func environment(_ covering: [ClientName: Covered]) -> [String: String] {
        var variables = ["PATH": Self.searchPath, "LANG": "C.UTF-8"]
        // State-change actions cover no clients.
        guard !covering.isEmpty else { return variables }
        let clients = covering.sorted { $0.key < $1.key }
        func lines(_ values: [String]) -> String { values.joined(separator: "\n") }
        variables["CLIENTSECRETD_CLIENT"] = lines(clients.map(\.key.description))
        variables["CLIENTSECRETD_CLIENT_ID"] = lines(clients.map(\.value.issued.client.description))
        variables["CLIENTSECRETD_OUTPUTS"] = lines(clients.flatMap { $0.value.outputs.map(\.description) })
        return variables
    }

    private func execute(
        _ arguments: [String], timeout: Seconds, environment: [String: String], as id: ActionID
    ) throws(Failure) {
        let report = try report(arguments, timeout: timeout, environment: environment, as: id)
        for line in secretCache.redacted(report.lines, isCut: report.truncated > 0) { log.output(of: id, line) }
        if report.truncated > 0 { log.output(of: id, "(\(report.truncated) bytes more)") }
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
            throw Failure(.actionNotStarted, at: .action(id), cause: error.errno.rawValue, detail: arguments.first)
        }
    }
}
