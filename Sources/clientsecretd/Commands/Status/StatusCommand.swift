import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Failures
import Glibc
import Linux
import Model
import StatusAPI

/// `status`: shows the daemon's status document.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show every client, its secret and all problems.",
        discussion: """
            Each problem comes with its start, the next attempt, and the command that fixes it.

            Examples:
              clientsecretd status
              clientsecretd status --watch
            """)

    @OptionGroup var daemon: SocketOption
    @OptionGroup var answer: JSONFlag

    @Flag(help: "Keep running and show changes.")
    var watch = false

    @Flag(help: "Show which secret each machine has, on a machine that puts secrets into the store.")
    var fleet = false

    @Flag(help: "With --fleet: show machines that are up to date, too.")
    var all = false

    func validate() throws {
        if all, !fleet { throw ValidationError("--all belongs to --fleet") }
        if fleet, watch { throw ValidationError("--fleet shows how it is now; leave out --watch") }
    }

    func run() throws {
        let client = daemon.client()
        if fleet { return try showFleet(client) }
        if watch {
            var view = StatusWatch(client: client, isJSON: answer.json, findings: findings)
            try view.run()
        }
        let snapshot: Snapshot
        do throws(StatusClientError) {
            snapshot = try client.status()
        } catch {
            let failedSockets = FailedSockets.problems(ofDaemonAt: daemon.path())
            for line in failedSockets.joined() { CommandOutput.complain(lines: line.text) }
            throw CommandFailure(error)
        }
        let findings = findings()
        if answer.json {
            // The document is the API's, which has no member for these.
            try CommandOutput.answer(snapshot.json)
            for line in findings.joined() { CommandOutput.complain(lines: line.text) }
            return
        }
        let report = StatusReport(snapshot: snapshot, now: .now, findings: findings)
        try CommandOutput.answer(report.lines)
        let configuration = snapshot.configuration.path
        guard geteuid() == 0, ServiceUser.isReadByCaller(configuration) else { return }
        // Last, because a disk that does not respond delays it. Programs and a redrawn screen do not get it.
        try? Hardening.forbidInspection()
        // One that is not accepted, other messages explain.
        guard case .success(let loaded) = ConfigurationSource.ofService(configuration).load() else { return }
        let hidden = HiddenOutputSearch.byClient(of: loaded.configuration, at: .now).map { name, found in
            // A unit whose action waits for its turn is not to be restarted yet.
            let isLater = snapshot.clients.contains { $0.name == name && $0.isDeliveredLater }
            return found.filter { !isLater || $0.unit == nil || $0.isOfNext }
        }
        for warning in Set(hidden.joined()).sorted() { CommandOutput.complain(lines: warning.description) }
        guard ServiceUser.isServices(configuration) else { return }
        let readers = UnitsInEffect(of: loaded.configuration)?.problemsWithReaders(in: loaded.configuration) ?? []
        for failure in readers { CommandOutput.complain(lines: "warning: \(failure.sentence)") }
    }

    /// The part of every form of `status` that the daemon's document lacks, a block for each: problems of the sockets that systemd
    /// listens on, with their remedies, and a sandbox that is weaker than the shipped one.
    private func findings() -> [[CommandMessage]] {
        let sockets = FailedSockets.problems(ofDaemonAt: daemon.path())
        // A daemon at another socket has a unit of its own, which is not known.
        guard geteuid() == 0, SystemManager.isSystemd, daemon.path() == SocketOption.standard,
            let weakness = UnitsInEffect()?.weakness
        else { return sockets }
        return sockets + [["warning: \(weakness)"]]
    }

    private func showFleet(_ client: StatusClient) throws {
        let view: FleetView
        do throws(StatusClientError) {
            view = try client.fleet(all: all)
        } catch {
            throw CommandFailure(error)
        }
        try answer.show(view.json, or: FleetTable(view: view, now: .now).lines)
    }
}
