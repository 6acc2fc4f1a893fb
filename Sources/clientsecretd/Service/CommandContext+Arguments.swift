import Config
import Failures
import Linux
import Model

extension CommandContext {
    /// The values of this command line, or else of the environment.
    init(
        arguments words: [String], _ environment: [String: String], hasSystemd: Bool = SystemManager.isSystemd
    ) {
        /// Nil if a command that does not name it means it.
        func named(_ path: String, unless standard: String, _ variable: String) -> String? {
            let isImplied = path == standard && OwnEnvironment.chosen(environment[variable]) ?? standard == standard
            return isImplied || path == NamedFile.standardInput
                ? nil : ConfigurationLoader.absolutePath(of: path)?.description
        }
        let socket = SocketOption.path(flag: Flags.value(of: "--socket", in: words), environment)
        let isThere = FileStatus.following(socket)?.kind == .socket
        let file = Flags.value(of: "--config", in: words)
        let isRun = words.first == "run"
        let path = ConfigurationOption.path(flag: file, environment)
        let configuration = named(path, unless: ConfigurationOption.standard, "CLIENTSECRETD_CONFIG")
        let unit = isRun ? OwnUnit.service(environment) : nil
        let isServices =
            configuration == nil
            || (isRun ? unit == PackageUnit.daemon : hasSystemd && ServiceUser.isServices(path))
        // The default socket is the service's there.
        let isDaemonImplied = isRun || !hasSystemd || isServices || path == ConfigurationOption.standard
        let isSocketChosen =
            Flags.value(of: "--socket", in: words) != nil
            || OwnEnvironment.chosen(environment["CLIENTSECRETD_SOCKET"]) != nil
        let knowsDaemon = isDaemonImplied || isSocketChosen
        self.init(
            configuration: configuration, isServices: isServices,
            socket: named(socket, unless: SocketOption.standard, "CLIENTSECRETD_SOCKET"),
            hasSystemd: hasSystemd,
            hasDaemon: isRun
                ? !words.contains("--once")
                : !words.contains("--offline") && isThere && knowsDaemon,
            unit: unit, knowsDaemon: knowsDaemon)
        if !isDaemonImplied, isSocketChosen {
            decidingSocket = ConfigurationLoader.absolutePath(of: socket)?.description
        }
    }

    /// Why a daemon's report is not about a configuration. The daemon reports that it reads another one, and the command line
    /// does not name that one.
    func objection(to snapshot: Snapshot, asDaemonOf path: String) -> String? {
        guard !knowsDaemon, snapshot.configuration.path != ConfigurationLoader.absolutePath(of: path)?.description
        else { return nil }
        return "the daemon that answers reads \(Printable.name(snapshot.configuration.path)); name the socket of this "
            + "configuration's daemon with --socket"
    }

    /// Notes that the configuration's daemon has answered: commands that ask it may be printed from now on.
    static func noteDaemon() {
        var context = current
        (context.knowsDaemon, context.hasDaemon) = (true, true)
        context.use()
    }

    /// Notes that nothing could be reached at the daemon's socket: messages say why, if systemd knows.
    static func noteUnreached(at socket: String) {
        var context = current
        context.remedyForSocket = FailedSockets.remedy(for: socket)
        context.use()
    }
}
