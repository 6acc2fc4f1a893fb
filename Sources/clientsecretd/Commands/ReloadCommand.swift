import ArgumentParser
import Daemon
import Glibc
import Linux
import Model
import StatusAPI

/// `reload`: makes the daemon read its configuration again, and waits for the result.
struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Make the daemon read its configuration again and wait for its verdict.",
        discussion: """
            Exits 78 with the mistakes when the new configuration is refused, which leaves the old one in force, and 1 \
            when it is adopted but something in it cannot be served. A file that is no output any more and holds a \
            valid secret is named once, with the command that takes it away; the daemon never removes one.
            """)

    @OptionGroup var daemon: SocketOption
    @OptionGroup var answer: JSONFlag

    func run() throws {
        let report: ReloadReport
        do throws(ClientError) {
            report = try daemon.client().reload()
        } catch {
            guard case .answered(let problem) = error, !problem.diagnostics.isEmpty else { throw CommandFailure(error) }
            if answer.json { try CommandOutput.answer(problem.json) }
            for line in problem.diagnostics { CommandOutput.complain(lines: line) }
            throw CommandFailure(.configuration, problem.detail)
        }
        keep()
        try CommandOutput.answer(answer.json ? report.json : "The configuration was adopted.")
        for line in report.orphaned { CommandOutput.complain(lines: "warning: \(line)") }
        guard report.unserved.isEmpty else {
            for line in report.unserved { CommandOutput.complain(lines: line) }
            throw CommandFailure(.failed, "not everything in it can be served")
        }
    }

    /// Run as root, updates root's copy of the adopted configuration, if one exists: the daemon may not write it.
    private func keep() {
        let environment = Environment.current
        guard geteuid() == 0 else { return }
        do {
            let path = try daemon.client().status().configuration.path
            try Hardening.forbidInspection()
            try ConfigurationSource.keepAsRoot(
                path: path, environment: environment, daemonUser: ServiceUser.name, isUpdate: true)
        } catch {
            CommandOutput.complain("it was adopted, but cannot be kept for a start with a refused one: \(error)")
        }
    }
}
