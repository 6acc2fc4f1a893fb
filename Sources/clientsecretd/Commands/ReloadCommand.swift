import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Failures
import Glibc
import Linux
import Model
import StatusAPI

/// `reload`: makes the daemon read its configuration again, and waits for the result.
struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Load a changed configuration and wait for the result.",
        discussion: """
            Exits 78 with all errors if the configuration is refused, and 1 if it cannot be read: the old one stays \
            current. Also exits 1 if the new configuration is loaded but something in it fails. If you name clients, \
            it then exits 1 only if one of them has no valid secret. Waits up to 30 seconds for the first answers of APIs, \
            Apple and etcd. A former output that still has a valid secret is named once. It also \
            warns of a unit that takes another secret when it starts than the new configuration gives it, and of a mode or group \
            that a file with other lines does not get.

            Examples:
              clientsecretd reload
              clientsecretd check && clientsecretd reload
            """)

    @Argument(
        help: "The clients whose secrets decide about the exit status (default: everything counts).",
        completion: .configuredClients, transform: Flags.clientName)
    var clients: [ClientName] = []

    @OptionGroup var daemon: SocketOption
    @OptionGroup var answer: JSONFlag

    func run() throws {
        let report: ReloadReport
        do throws(StatusClientError) {
            report = try daemon.client().reload()
        } catch {
            guard case .answered(let problem) = error, !problem.diagnostics.isEmpty else { throw CommandFailure(error) }
            if answer.json { try CommandOutput.answer(problem.json) }
            for line in problem.diagnostics { CommandOutput.complain(lines: line) }
            // A text that could not be read was not refused.
            throw CommandFailure(problem.status == 422 ? .configuration : CommandExitStatus(error), problem.detail)
        }
        keep()
        try answer.show(report.json, or: ["The configuration is loaded."])
        for line in report.orphaned { CommandOutput.complain(lines: "warning: \(line)") }
        for warning in warnings { CommandOutput.complain(lines: warning) }
        for line in report.unserved { CommandOutput.complain(lines: line) }
        guard clients.isEmpty else { return try checkSecrets() }
        guard report.unserved.isEmpty else {
            throw CommandFailure(.failed, "the configuration is loaded, but the daemon cannot serve all of it")
        }
    }

    /// Throws if one of the named clients has no valid secret: a unit that takes it as a credential could not start.
    private func checkSecrets() throws {
        let snapshot: Snapshot
        do throws(StatusClientError) { snapshot = try daemon.client().status() } catch { throw CommandFailure(error) }
        for name in clients {
            guard let client = snapshot.clients.first(where: { $0.name == name }) else {
                throw CommandFailure.unknown(
                    "client", name.description, among: snapshot.clients.map(\.name.description),
                    in: snapshot.configuration.path)
            }
            guard let expiry = client.current?.expiresAt, WallTime.now < expiry else {
                throw CommandFailure(.failed, "client \"\(name)\" has no valid secret")
            }
        }
    }

    /// Modes and groups that files do not get, and differences between services that take secrets from the daemon and its loaded
    /// configuration, as far as this user may read that and the files.
    private var warnings: [String] {
        // The files hold secrets.
        try? Hardening.forbidInspection()
        guard let path = try? daemon.client().status().configuration.path, ServiceUser.isReadByCaller(path),
            case .success(let loaded) = ConfigurationSource.ofService(path).load()
        else { return [] }
        let modes = HiddenOutputSearch.unappliedModes(of: loaded.configuration).map(\.description)
        guard ServiceUser.isServices(path) else { return modes }
        let readers = UnitsInEffect(of: loaded.configuration)?.problemsWithReaders(in: loaded.configuration) ?? []
        return modes + readers.map { "warning: \($0.sentence)" }
    }

    /// Run as root, updates root's copy of the adopted configuration, if one exists: the daemon may not write it.
    private func keep() {
        guard geteuid() == 0 else { return }
        do {
            let path = try daemon.client().status().configuration.path
            try Hardening.forbidInspection()
            try ConfigurationSource.keepAsRoot(
                path: path, environment: OwnEnvironment.current, isUpdate: true)
        } catch {
            CommandOutput.complain(
                "it is loaded, but the fallback copy of the configuration could not be saved: \(error)")
        }
    }
}
