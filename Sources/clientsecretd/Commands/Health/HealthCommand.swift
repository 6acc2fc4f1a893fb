import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Failures
import Glibc
import Linux
import Model
import Rotation
import StatusAPI
import SystemPackage

/// `health`: one line and an exit code for monitoring.
struct HealthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Print one line and an exit status for monitoring: 0 ok, 1 warning, 2 critical, 3 unknown.",
        discussion: """
            Asks the daemon. Without a daemon, or with --offline, it judges the configuration and the published \
            files. The user must be able to read them. A missing daemon is at least a warning.

            After the bar comes performance data: the seconds that each client's delivered secret has left. The line \
            has at most 4 KiB. With hundreds of clients it names the worst ones and counts the others.

            Examples:
              clientsecretd health
              sudo -u clientsecretd clientsecretd health --offline
            """)

    @Flag(help: "Do not ask the daemon; judge the configuration and the published files.")
    var offline = false

    @OptionGroup var daemon: SocketOption
    @OptionGroup var settings: ConfigurationOption

    /// Monitoring gives a plugin ten seconds in all (the guidelines' default).
    private static let timeouts: StatusClient.Timeouts = {
        var timeouts = StatusClient.Timeouts()
        timeouts.connect = 2
        timeouts.get = 4
        return timeouts
    }()
    /// In seconds.
    private static let diskTimeout = 3
    /// For everything, in milliseconds: several disks may be silent, or an account database.
    private static let timeout: UInt32 = 9_000
    private static let isShown = QuietMutex(false)

    func run() throws { CommandOutput.end(Self.show(line(now: .now))) }

    /// From now on this process has as long as monitoring gives it.
    static func limitTime() {
        DiskTimeout.begin(seconds: diskTimeout)
        // Without a thread it takes as long as it takes.
        try? WorkerThread.start {
            usleep(timeout * 1_000)
            let silent = DiskTimeout.silent.first.map { "\(Printable.name($0)) and more" }
            let words = "\(silent ?? "a disk or a service of this machine") did not answer within \(timeout / 1_000) s"
            CommandProcess.abandon(show(HealthLine(.unknown, words)))
        }
    }

    /// Prints the line, unless another thread does, which then ends the process. Returns the exit code.
    private static func show(_ line: HealthLine) -> Int32 {
        while isShown.withLock({ isShown in
            defer { isShown = true }
            return isShown
        }) { pause() }
        let text = Terminal.current().shown(line.text(now: .now)) + "\n"
        // Without a reader a signal would end it, and monitoring knows only exit codes.
        signal(SIGPIPE, SIG_IGN)
        CommandOutput.complainOfGaps()
        guard let errno = Descriptor.write(Array(text.utf8), to: STDOUT_FILENO) else { return line.state.rawValue }
        // Monitoring that gets no line goes by the exit code, and 0 would be a clean bill of health.
        if errno != .brokenPipe {
            CommandOutput.complain("cannot write to standard output: \(errno)")
        }
        return max(line.state.rawValue, HealthLine.State.warning.rawValue)
    }

    private func line(now: WallTime) -> HealthLine {
        if offline { return judge(unanswered: nil, now: now) }
        do throws(StatusClientError) {
            let client = daemon.client(timeouts: Self.timeouts)
            let snapshot = try client.startedStatus()
            let path = settings.path()
            if let objection = CommandContext.current.objection(to: snapshot, asDaemonOf: path) {
                return judge(unanswered: objection, now: now)
            }
            return HealthLine(snapshot, now: now)
        } catch {
            // A socket flag names a daemon whose configuration is unknown, so the default one does not apply. A configuration in
            // the environment is that of the environment's daemon, as in the container image.
            guard daemon.socket == nil || settings.isNamed else {
                return HealthLine(
                    .warning,
                    HealthLine.words(of: error)
                        + "; name its configuration with --config to judge the published files")
            }
            // The missing configuration is named below, with the remedy.
            let isConfigured = if case .notConfigured = error { false } else { true }
            let unanswered = isConfigured ? HealthLine.words(of: error) : "the daemon is not running"
            return judge(unanswered: unanswered, now: now)
        }
    }

    private func judge(unanswered: String?, now: WallTime) -> HealthLine {
        // Commands that ask the daemon do not help.
        var context = CommandContext.current
        context.hasDaemon = false
        context.use()
        do {
            // Keys may be read: no core dump, no inspection by other processes of the same user.
            try Hardening.forbidInspection()
        } catch {
            return HealthLine(.unknown, HealthLine.words(unanswered, then: error.description))
        }
        let path = settings.path()
        let source = ConfigurationSource.ofService(path)
        let isForeign = ServiceUser.isForeign(to: path)
        do throws(CommandFailure) {
            switch source.load() {
            case .failure(let error):
                let why = error.headline?.description ?? "no configuration"
                guard let adopted = source.loadAdopted() else {
                    return HealthLine(.unknown, HealthLine.words(unanswered, then: why))
                }
                // The daemon would start with the last adopted configuration, too, and be degraded.
                return HealthLine(
                    try health(of: adopted, from: source).found, isForeign: isForeign,
                    unanswered: HealthLine.words(unanswered, then: why, after: Self.refused), now: now)
            case .success(let loaded):
                let (found, why) = try health(of: loaded, from: source)
                return HealthLine(
                    found, isForeign: isForeign,
                    unanswered: why.map { HealthLine.words(unanswered, then: $0, after: Self.refused) } ?? unanswered,
                    now: now)
            }
        } catch {
            return HealthLine(.unknown, HealthLine.words(unanswered, then: error.message))
        }
    }

    private static let refused = "the configuration would not start: "

    /// Judges the published files as this user, and then the rest as the service's user, which has to work with it. Turns root
    /// into that user for good. Also returns why the configuration is refused if that user reads it.
    private func health(
        of loaded: LoadedConfiguration, from source: ConfigurationSource
    ) throws(CommandFailure) -> (found: [OutputsHealth], refusal: String?) {
        let published = OfflineEvaluation(of: loaded, from: source).health()
        let unit: ServiceUnit?
        do throws(CommandFailure) {
            unit = try ServiceUser.judge(configuration: source.path)
        } catch {
            // Judged only as root, the service's key would seem to be a stranger's.
            guard geteuid() != 0 else { throw error }
            return (published, nil)
        }
        guard ServiceUser.isCaller(of: loaded, from: source) else { return (published, nil) }
        let callers = ConfigurationSource.ofCaller(source.path)
        if case .failure(let error) = callers.load() {
            return (published, error.headline?.description ?? "it cannot be read")
        }
        return (
            OfflineReasons(of: loaded, from: callers, socket: daemon.path(), unit: unit).judge(published), nil
        )
    }
}
