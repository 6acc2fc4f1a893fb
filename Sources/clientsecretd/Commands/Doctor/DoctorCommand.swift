import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Failures
import Linux
import Model
import StatusAPI

/// `doctor`: follows each secret from its key to the process that reads it and to Apple.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Follow each secret from the key to the app, and name the first broken link.",
        discussion: """
            The links are: key, ids, clock, source, secret, outputs, anything that hides them, the unit that reads \
            them, the running process, and Apple. Each link is one line. The first broken link comes with a fix.

            Run it as root: only root can see what a running process holds. It shows only the fingerprints of secrets. \
            Without a daemon it judges from the configuration and the files. It asks Apple if clientsecretd-network is \
            installed.

            Exits 0 if no link is known to be broken, 1 if one is, and 78 if the configuration's text is refused.

            Examples:
              clientsecretd doctor
              clientsecretd doctor --skip-verify web
            """)

    @Argument(
        help: "The clients to examine (default: all).", completion: .configuredClients, transform: Flags.clientName)
    var clients: [ClientName] = []

    @Flag(help: "Do not ask Apple.")
    var skipVerify = false

    @OptionGroup var settings: ConfigurationOption
    @OptionGroup var daemon: SocketOption
    @OptionGroup var server: ServerOptions
    @OptionGroup var answer: JSONFlag

    func run() throws {
        // Secrets of other programs are read: no core dump, no inspection by other processes of the same user.
        try Hardening.protectSecrets()
        for line in FailedSockets.problems(ofDaemonAt: daemon.path()).joined() {
            CommandOutput.complain(lines: line.text)
        }
        let settings = try AcceptedConfiguration(settings)
        for name in clients { try settings.client(name) }
        let names = clients.isEmpty ? settings.loaded.configuration.clients.keys.sorted() : clients
        let (snapshot, unanswered) = status(of: names)
        let (known, idle) = try ChainFacts.all(of: names, in: settings, socket: daemon.path(), snapshot: snapshot)
        for unit in idle { CommandOutput.complain(lines: "warning: \(unit.sentence)") }
        let program = Result { () throws(CommandFailure) in try NetworkProgramLauncher(server) }
        var rateLimit = RateLimit.requestsToApple
        let chains = known.map { facts in
            var facts = facts
            if let reason = facts.reasonNotToAsk {
                facts.verdict = .notAsked(reason)
            } else if let secret = facts.secretToTry {
                facts.verdict = verdict(on: secret, program, &rateLimit)
            }
            return ClientChain(facts)
        }
        let report = DoctorReport(chains: chains, unanswered: unanswered)
        try answer.show(report.json.rendered, or: report.lines)
        if report.isBroken { throw CommandFailure(.failed, "") }
    }

    private func verdict(
        on secret: Result<PublishedSecret, CommandFailure>, _ program: Result<NetworkProgramLauncher, CommandFailure>,
        _ rateLimit: inout RateLimit
    ) -> ChainFacts.Verdict {
        if skipVerify { return .notAsked("Apple was not asked (--skip-verify)") }
        switch (program, secret) {
        case (.success(let program), .success(let secret)):
            return .answered(.asking(about: secret, program, &rateLimit))
        case (.failure(let failure), _): return .notAsked(failure.message)
        case (_, .failure(let failure)): return .notAsked("there is no secret to try: \(failure.message)")
        }
    }

    /// The daemon's view, or why it does not answer.
    private func status(of names: [ClientName]) -> (Snapshot?, unanswered: String?) {
        do throws(StatusClientError) {
            let client = daemon.client()
            let path = settings.path()
            if let objection = CommandContext.current.objection(to: try client.status(), asDaemonOf: path) {
                return (nil, objection)
            }
            CommandContext.noteDaemon()
            return (try client.settledStatus(of: names), nil)
        } catch {
            return (nil, error.description)
        }
    }
}
