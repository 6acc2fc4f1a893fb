import AppleClientSecret
import Linux
import Rotation
import SystemPackage

/// Runs actions as child processes and says how they ended.
struct ActionRunner: Sendable {
    let log: Log
    let shelf: Shelf
    let identity: Identity
    /// Signalled at shutdown: a hook that has not ended by then counts as not done.
    let cancel: EventCounter

    /// How long a unit's job may take before it is said to have failed; systemd's own limits are 90 s for a start and
    /// 90 s for a stop (DefaultTimeoutStartSec=, DefaultTimeoutStopSec=).
    private static let unitTimeout: Seconds = 200
    static let systemctl = "/usr/bin/systemctl"
    /// A hook finds Debian's programs here and nowhere else.
    private static let searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    func run(_ action: Action, _ covering: [ClientName: Covered]) throws(Trouble) {
        switch action {
        case .exec(let arguments, let timeout):
            // A program that somebody else may replace would act with the daemon's rights.
            if let trouble = Probe.trouble(of: action, as: identity) { throw trouble }
            try execute(arguments, timeout: timeout, environment: environment(covering), as: action.id)
        case .unit(let verb, let unit):
            // systemctl has a word for each of the others that leaves a stopped unit alone.
            if case .reload = verb, try !isActive(unit, action.id) { return }
            try execute(
                Self.systemctl(verb, unit), timeout: Self.unitTimeout, environment: environment([:]), as: action.id)
        case .signal(let unit, let signal):
            guard try isActive(unit, action.id) else { return }
            let arguments = [Self.systemctl, "kill", "--kill-whom=main", "--signal=\(signal)", "--", unit]
            try execute(arguments, timeout: Self.unitTimeout, environment: environment([:]), as: action.id)
        }
    }

    /// A stopped unit stays stopped: its next start reads the new secret.
    private static func systemctl(_ verb: Action.UnitVerb, _ unit: String) -> [String] {
        let word =
            switch verb {
            case .restart: "try-restart"
            case .reload: "reload"
            case .reloadOrRestart: "try-reload-or-restart"
            case .start: "start"
            }
        return [Self.systemctl, word, "--", unit]
    }

    private func isActive(_ unit: String, _ id: ActionID) throws(Trouble) -> Bool {
        let arguments = [Self.systemctl, "is-active", "--quiet", "--", unit]
        let ending = try report(arguments, timeout: Self.unitTimeout, environment: environment([:]), as: id).ending
        switch ending {
        case .exited(0): return true
        // systemctl(1): a unit that is not active. Any other status means that systemd could not be asked.
        case .exited(3): return false
        default:
            throw Trouble(.actionFailed, at: .action(id), detail: "systemd cannot be asked whether \(unit) is active")
        }
    }

    private func environment(_ covering: [ClientName: Covered]) -> [String: String] {
        var variables = ["PATH": Self.searchPath, "LANG": "C.UTF-8"]
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
    ) throws(Trouble) {
        let report = try report(arguments, timeout: timeout, environment: environment, as: id)
        for line in report.lines { log.output(of: id, shelf.redacted(line)) }
        if report.truncated > 0 { log.output(of: id, "(\(report.truncated) bytes more)") }
        switch report.ending {
        case .exited(0): return
        case .exited(let status): throw Trouble(.actionFailed, at: .action(id), detail: "exit status \(status)")
        case .signalled(let number): throw Trouble(.actionFailed, at: .action(id), detail: "signal \(number)")
        case .timedOut: throw Trouble(.actionTimedOut, at: .action(id), detail: "\(timeout.count) s")
        case .cancelled: throw Trouble(.actionInterrupted, at: .action(id))
        }
    }

    private func report(
        _ arguments: [String], timeout: Seconds, environment: [String: String], as id: ActionID
    ) throws(Trouble) -> ExitReport {
        do {
            return try ChildProcess.run(
                arguments, environment: environment, timeout: timeout.count * 1000, cancel: cancel)
        } catch {
            throw Trouble(.actionNotStarted, at: .action(id), cause: error.errno.rawValue, detail: arguments.first)
        }
    }
}
