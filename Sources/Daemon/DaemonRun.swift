import Actions
import AppleClientSecret
import Config
import Failures
import Glibc
import Keys
import Linux
package import Model
import Outputs
import Rotation
import State
import StatusAPI
import SystemPackage
import Systemd

/// `clientsecretd run`: from the command line to the loop and back to an exit code.
package struct DaemonRun {
    private let settings: ConfigurationSource
    private let socketPath: String
    private let isOnce: Bool
    private let report: (Snapshot) -> Void
    private let environment: [String: String]
    private let log: Log
    /// Why the start failed, for waiting clients.
    private let refusal = Reasons()

    private final class Reasons: Sendable {
        let lines = QuietMutex<(headline: String, all: [String])>(("the reason is not known", []))
    }

    /// - Parameters:
    ///   - configuration: the configuration's path as the user wrote it.
    ///   - socket: where the status socket is made unless systemd passes one.
    ///   - once: bring everything up to date and end.
    ///   - report: called with what `once` has come to.
    package init(
        configuration: String, socket: String, once: Bool, environment: [String: String],
        report: @escaping (Snapshot) -> Void
    ) {
        // Absolute, because readers of the log and the status are in other directories. What cannot be a path stays as
        // it is: loading it reports why.
        let absolute = ConfigurationLoader.absolutePath(of: configuration)
        settings = ConfigurationSource(path: absolute?.description ?? configuration, environment: environment)
        socketPath = socket
        isOnce = once
        self.report = report
        self.environment = environment
        log = Log(environment: environment)
    }

    /// Blocks until the daemon ends. To be called on the main thread, before any other was started.
    package func run() -> Ending {
        let startedAt = Clocks.bootMilliseconds()
        do {
            // First, so that a signal that comes early waits for the loop instead of ending the process.
            try SignalDescriptor.blockSignals()
            try ChildProcess.adoptOrphans()
            var passed = try PassedSockets()
            defer {
                CredentialSocket.refuseWaiting(at: &passed)
                StatusListener.refuseWaiting(at: &passed, refusal.lines.withLock { $0 }, startedAt: startedAt)
            }
            return try start(from: &passed)
        } catch {
            return giveUp([.system(error)], .failed)
        }
    }

    /// Ends a start, and reports why to the log, the service manager and the clients of the sockets.
    ///
    /// - Parameter headline: the one to show where there is room for one; nil: the first.
    private func giveUp(_ why: [StartRefusal], headline: StartRefusal? = nil, _ ending: Ending) -> Ending {
        for refusal in why { log.note(.startRefused(refusal)) }
        let headline = headline ?? why.first
        let words = headline?.words ?? ""
        refusal.lines.withLock { $0 = (words, why.map(\.words)) }
        let more = why.count > 1 ? " (and \(why.count - 1) more)" : ""
        ManagerNotifications(log: log).fail(words + more, errno: headline?.errno)
        return ending
    }

    private func start(from passed: inout PassedSockets) throws(SystemError) -> Ending {
        // Before the first key is read: no core dump, and no other process of the same user reads our memory.
        try Hardening.forbidInspection()
        // With `--once` nothing is kept up to date.
        let notices =
            isOnce ? nil : ConfigurationNotices(of: ConfigurationLoader.absolutePath(of: settings.path))
        let loaded: LoadedConfiguration
        var refused: [String]?
        switch settings.load() {
        case .success(let value): loaded = value
        case .failure(let refusal):
            // With `--once` the caller reads what is wrong.
            guard !isOnce, let adopted = settings.loadAdopted() else {
                let headline = refusal.headline
                return giveUp(
                    refusal.errorsFirst.map(StartRefusal.configuration),
                    headline: headline.map(StartRefusal.configuration), .configuration)
            }
            loaded = adopted
            refused = refusal.errorsFirst.map(\.description)
        }
        if passed.isReachable(StatusListener.metricsName) {
            return giveUp([.reachableMetrics(socket: StatusListener.metricsName)], .configuration)
        }
        RuntimeDirectory.make(as: settings.identity)
        for diagnostic in loaded.warnings { log.note(.configurationWarning(diagnostic)) }
        if case .absent = PrivateKeyHeap.start() { log.note(.noSecureMemory) }
        let inbox = try Inbox<Input>()
        let state = try stateAccess(of: loaded.configuration, inbox)
        if case .failure(let failure) = state.last, failure.code == .stateLocked {
            return giveUp([.stateLocked(failure)], .locked)
        }
        let naming: TemporaryNames
        do throws(FileError) {
            switch state.last {
            case .success(let directory): naming = directory.naming
            case .failure: naming = try TemporaryNames()
            }
        } catch {
            return giveUp([.temporaryNames(error)], .failed)
        }
        return try keepPublished(consume loaded, refused, notices, state, naming, inbox, from: &passed)
    }

    private func stateAccess(
        of configuration: Configuration, _ inbox: Inbox<Input>
    ) throws(SystemError) -> StateAccess {
        try StateAccess(
            at: settings.stateDirectory(of: configuration),
            open: { [settings] in settings.openState(of: configuration, after: $0) },
            lost: { [log] directory in
                log.note(.stateLost(directory.path))
                inbox.post(.stateLost)
            })
    }

    /// Builds the loop and runs it.
    ///
    /// - Parameters:
    ///   - refused: what is wrong with the present text, when `loaded` is the text last adopted; else nil.
    ///   - notices: nil with `--once`.
    private func keepPublished(
        _ loaded: consuming LoadedConfiguration, _ refused: [String]?, _ notices: ConfigurationNotices?,
        _ state: StateAccess, _ naming: TemporaryNames, _ inbox: Inbox<Input>, from passed: inout PassedSockets
    ) throws(SystemError) -> Ending {
        let configuration = loaded.configuration
        let now = Clock.now()
        var rotation = Rotation(
            seed: UInt64.random(in: 0 ... .max), hostJitter: HostJitter.value, builtAt: Version.builtAt,
            startedAt: now.wall, configurationPath: settings.path, once: isOnce,
            isRestart: state.known?.wasUsedSinceBoot == true)
        rotation.handle(
            refused.map { .configuredAsBefore(configuration, refused: $0) } ?? .configured(configuration), at: now)
        let callers = WaitingCallers()
        let cancel = try EventCounter()
        let storeService = try settings.storeService(besideSocket: socketPath, cancel: cancel) { inbox.post($0) }
        let listener = openSocket(from: &passed, inbox, callers, storeService, configuration, telling: &rotation, now)
        let secretCache = SecretCache()
        let credentials = try openCredentials(from: &passed, secretCache, configuration, telling: &rotation, now)
        var stopBy: BootTime?
        defer { credentials?.close(by: stopBy) }
        for name in passed.names { log.note(.socketIgnored(name: name)) }
        let server = listener?.server
        let findings = try Inbox<Watcher.Finding>()
        let executor = makeExecutor(
            state, naming, inbox, findings, storeService, secretCache, listener, credentials, cancel)
        let watcher = notices.map { notices in
            Watcher(
                notices,
                // The same for as long as the daemon runs: a reload that names another one only causes a warning.
                stateDirectory: settings.stateDirectory(of: configuration), pool: executor.pool,
                lane: { executor.lane(of: $0) }, found: findings)
        }
        executor.adopt(loaded)
        if refused == nil, !isOnce { executor.keepText(loaded) }
        if environment["SYSTEMD_EXEC_PID"] == String(getpid()) { reviewUnits(of: configuration, executor) }
        // The loop runs for as long as the daemon, which needs the text and its positions no more.
        _ = consume loaded
        let metrics = try MetricsKeeper(configuration.metricsFile, executor: executor)
        let loop = try Loop(
            rotation: consume rotation, inbox: inbox, callers: callers, executor: executor, log: log, server: server,
            credentials: credentials?.server, watcher: watcher, findings: findings, metrics: isOnce ? nil : metrics,
            cancel: cancel)
        let end = try loop.run()
        stopBy = loop.stopBy
        listener?.close()
        // Meanwhile, refused callers read their answers.
        credentials?.server.beginStop()
        return finish(end, executor, metrics, by: stopBy)
    }

    /// What carries out the jobs, and tells others of a configuration that is adopted.
    private func makeExecutor(
        _ state: StateAccess, _ naming: TemporaryNames, _ inbox: Inbox<Input>, _ findings: Inbox<Watcher.Finding>,
        _ storeService: StoreService, _ secretCache: SecretCache, _ listener: StatusListener?,
        _ credentials: CredentialSocket?, _ cancel: EventCounter
    ) -> Executor {
        let identity = settings.identity
        let adoptedCopy = AdoptedCopy(
            of: settings.path, cancel: cancel, isKept: { [settings] in settings.isKeptByRoot($0) },
            report: { [log] in log.note(.configurationNotKept($0)) })
        return Executor(
            log: log, identity: identity, naming: naming, state: state, settings: settings, secretCache: secretCache,
            keyring: KeyCache(), writers: settings.writers(besideSocket: socketPath, cancel: cancel),
            verifier: settings.verifier(besideSocket: socketPath, isOnce: isOnce, cancel: cancel),
            pusher: settings.pusher(besideSocket: socketPath, isOnce: isOnce, cancel: cancel),
            storeService: storeService,
            runner: ActionRunner(
                as: identity, cancel: cancel, redact: { secretCache.redacted($0, isCut: $1) },
                output: { [log] in log.note(.hookPrinted($0, $1)) }),
            findings: findings,
            adopting: { loaded in
                let configuration = loaded.configuration
                let control = ControlPermission(configuration, identity)
                inbox.post(control.lack(in: configuration))
                if let listener { inbox.post(listener.permit(control)) }
                if let credentials { inbox.post(credentials.adopt(configuration)) }
                adoptedCopy.follow(loaded)
            })
    }

    /// Waits for what is written last, reports what `--once` has come to, and says how the run ended.
    ///
    /// - Parameter stopBy: when the daemon has to be gone; nil where nothing says so.
    private func finish(
        _ end: Snapshot, _ executor: Executor, _ metrics: MetricsKeeper, by stopBy: BootTime?
    ) -> Ending {
        let left = { stopBy.map { max(0, $0.milliseconds - Clocks.bootMilliseconds()) } ?? Self.lastPatience }
        let unwritten = metrics.finish(
            end, goesOn: isOnce, within: isOnce ? Self.patience : min(left(), Self.lastPatience))
        if !isOnce { executor.finishKeepingText(within: min(left(), Self.lastPatience)) }
        if let unwritten { log.note(.metricsNotWritten(unwritten)) }
        guard isOnce else { return .done }
        report(end)
        for client in end.clients where client.health != .ok {
            log.note(.leftUndone(client.name, client.health, client.reason?.failure))
        }
        return Ending(ofOnce: end, unwritten: unwritten)
    }

    /// How long the last write of `metrics_file` or of the adopted text may take (milliseconds): with `--once` as long as
    /// any other job; in a daemon less, and never longer than the whole stop may.
    private static let patience = Rotation.overdueAfter.count * 1_000
    private static let lastPatience: Int64 = 1_000

    /// Logs once if the units run with less protection than they ship with.
    private func reviewUnits(of configuration: Configuration, _ executor: Executor) {
        // Not without a thread for it: nothing depends on it.
        try? executor.pool.run(in: .probes) { [log] in
            if let words = UnitsInEffect(of: configuration)?.weakness { log.note(.sandboxWeakened(words)) }
        }
    }

    /// Nil with `--once`, and where the socket cannot be made.
    private func openSocket(
        from sockets: inout PassedSockets, _ inbox: Inbox<Input>, _ callers: WaitingCallers,
        _ storeService: StoreService, _ configuration: Configuration, telling rotation: inout Rotation,
        _ now: Now
    ) -> StatusListener? {
        guard !isOnce else { return nil }
        let control = ControlPermission(configuration, settings.identity)
        let lack = control.lack(in: configuration)
        rotation.handle(lack, at: now)
        do throws(Failure) {
            let listener = try StatusListener(
                passed: try sockets.socket(StatusListener.passedName),
                metrics: try sockets.socket(StatusListener.metricsName), path: socketPath, control: control,
                handle: { [log] request, peer, reply in
                    // A request for the fleet's reports changes nothing, so it is not logged.
                    if case .fleet = request {} else { log.note(.asked(request, Requester(peer))) }
                    if request == .reload, peer.user == 0 { storeService.expectChange() }
                    inbox.post(.asked(request, callers.admit(reply)))
                })
            let lack = listener.permit(control)
            rotation.handle(lack, at: now)
            return listener
        } catch {
            // Secrets matter more than the status: the daemon runs, and reports why its socket is missing.
            rotation.handle(.faultRaised(error), at: now)
            return nil
        }
    }

    /// Nil with `--once`.
    private func openCredentials(
        from sockets: inout PassedSockets, _ secretCache: SecretCache, _ configuration: Configuration,
        telling rotation: inout Rotation, _ now: Now
    ) throws(SystemError) -> CredentialSocket? {
        guard !isOnce else { return nil }
        let server = try CredentialServer(configuration, secretCache: secretCache, log: log)
        let credentials = CredentialSocket(server, from: &sockets, beside: socketPath)
        let lack = credentials.adopt(configuration)
        rotation.handle(lack, at: now)
        return credentials
    }
}
