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
package final class DaemonRun {
    private let settings: ConfigurationSource
    private let socketPath: String
    private let isOnce: Bool
    private let report: (Snapshot) -> Void
    private let environment: [String: String]
    private let log: Log
    /// The reason that waiting clients get for a failed start.
    private var refusal: (headline: String, all: [String]) = ("the reason is not known", [])

    /// - Parameters:
    ///   - configuration: the configuration's path as the user wrote it.
    ///   - socket: where the status socket is created unless systemd passes one.
    ///   - once: bring everything up to date and end.
    ///   - report: called with the result of `once`.
    package init(
        configuration: String, socket: String, once: Bool, environment: [String: String],
        report: @escaping (Snapshot) -> Void
    ) {
        // Absolute, because readers of the log and the status are in other directories. A text that cannot be a path stays
        // unchanged: loading it reports why.
        let absolute = ConfigurationLoader.absolutePath(of: configuration)
        settings = ConfigurationSource(path: absolute?.description ?? configuration, environment: environment)
        socketPath = socket
        isOnce = once
        self.report = report
        self.environment = environment
        log = Log(environment: environment)
    }

    /// Blocks until the daemon ends. To be called on the main thread, before any other was started.
    package func run() -> DaemonExitStatus {
        let startPause = Deadline(in: StatusListener.startPause)
        do {
            // First, so that a signal that comes early waits for the loop instead of ending the process.
            try SignalDescriptor.blockSignals()
            try ChildProcess.adoptOrphans()
            var passed = try PassedSockets()
            defer {
                CredentialSocket.refuseWaiting(at: &passed)
                StatusListener.refuseWaiting(at: &passed, refusal, until: startPause)
            }
            return try start(from: &passed)
        } catch {
            return giveUp([.system(error)], .failed)
        }
    }

    /// Ends a start, and reports why to the log, the service manager and the clients of the sockets.
    ///
    /// - Parameter headline: the one to show where there is room for one; nil: the first.
    private func giveUp(_ why: [StartProblem], headline: StartProblem? = nil, _ ending: DaemonExitStatus)
        -> DaemonExitStatus
    {
        for problem in why { log.note(.startRefused(problem)) }
        let headline = headline ?? why.first
        let words = headline?.words ?? ""
        refusal = (words, why.map(\.words))
        let more = why.count > 1 ? " (and \(why.count - 1) more)" : ""
        ServiceManagerNotifications(log: log).fail(words + more, errno: headline?.errno)
        return ending
    }

    private func start(from passed: inout PassedSockets) throws(SystemError) -> DaemonExitStatus {
        // Before the first key is read: no core dump, and no other process of the same user reads our memory.
        try Hardening.forbidInspection()
        let loaded: LoadedConfiguration
        var refused: [String]?
        // A daemon waits for its configuration, and cron's next run would wait as well.
        if isOnce { DiskTimeout.begin(seconds: Int(Rotation.overdueAfter.count)) }
        let result = settings.load()
        if isOnce { DiskTimeout.end() }
        switch result {
        case .success(let value): loaded = value
        case .failure(let error):
            // With `--once` the caller reads the error.
            guard !isOnce, let adopted = settings.loadAdopted() else {
                return giveUp(
                    error.errorsFirst.map(StartProblem.configuration),
                    headline: error.headline.map(StartProblem.configuration), DaemonExitStatus(error))
            }
            loaded = adopted
            refused = error.errorsFirst.map(\.description)
        }
        if passed.isReachable(StatusListener.metricsName) {
            return giveUp([.reachableMetrics(socket: StatusListener.metricsName)], .configuration)
        }
        RuntimeDirectory.make(as: settings.identity)
        for diagnostic in loaded.warnings { log.note(.configurationWarning(diagnostic)) }
        if case .absent = PrivateKeyHeap.start() { log.note(.noSecureMemory) }
        let channels = try LoopChannels()
        let state = try stateAccess(of: loaded.configuration, channels.inbox)
        if case .failure(let failure) = state.last, failure.code == .stateLocked {
            return giveUp([.stateLocked(failure)], .locked)
        }
        let naming = state.known?.naming ?? (try? state.unopened?.readNaming()) ?? TemporaryNames()
        let start = Start(refused: refused, state: state, naming: naming, channels: channels)
        return try runLoop(with: consume loaded, start, from: &passed)
    }

    /// The parts that the loop is built from, next to the configuration.
    private struct Start {
        /// The errors in the present text, if the configuration is the last good one; else nil.
        let refused: [String]?
        let state: StateAccess
        let naming: TemporaryNames
        let channels: LoopChannels
    }

    private func stateAccess(
        of configuration: Configuration, _ inbox: Inbox<Input>
    ) throws(SystemError) -> StateAccess {
        let identity = settings.identity
        let lock = StateLock()
        return try StateAccess(
            at: settings.stateDirectory(of: configuration), as: identity,
            open: { path, former in
                Result { () throws(Failure) in
                    if let failure = OwnSandbox.hiding(stateDirectory: path, as: identity) { throw failure }
                    do throws(Failure) {
                        return try StateDirectory.open(path, as: identity, after: former, locking: lock)
                    } catch {
                        throw OwnSandbox.explainedByStart(error, as: identity)
                    }
                }
            },
            isHidden: { OwnSandbox.hiding(stateDirectory: $0, as: identity) != nil },
            lost: { [log] directory in
                if !directory.isInPlace { log.note(.stateLost(directory.path)) }
                inbox.post(.stateLost)
            })
    }

    /// Builds the loop and runs it to its end.
    private func runLoop(
        with loaded: consuming LoadedConfiguration, _ start: Start, from passed: inout PassedSockets
    ) throws(SystemError) -> DaemonExitStatus {
        let configuration = loaded.configuration
        let channels = start.channels
        let now = Now.current
        let clock = start.state.known?.clock ?? start.state.unopened?.readClock()
        var rotation = Rotation(
            seed: UInt64.random(in: 0 ... .max), renewalJitter: RenewalJitter.value, builtAt: Version.builtAt,
            startedAt: now.wall, configurationPath: settings.path, once: isOnce,
            clockRun: clock?.run, isRestart: clock?.wasUsedSinceBoot == true)
        rotation.handle(
            start.refused.map { .configuredAsBefore(configuration, refused: $0) } ?? .configured(configuration),
            at: now)
        let services = try ServiceClients(
            of: settings, besideSocket: socketPath, isOnce: isOnce, cancel: channels.cancel
        ) { channels.inbox.post($0) }
        let secretCache = SecretCache()
        let status = openStatus(from: &passed, configuration, channels, services.store)
        let credentials = try openCredentials(from: &passed, configuration, secretCache)
        var stopBy: BootTime?
        defer { credentials?.close(by: stopBy) }
        // Secrets matter more than the status: the daemon runs, and reports why its socket is missing.
        if case .failure(let failure)? = status { rotation.handle(.faultRaised(failure), at: now) }
        let sockets = ServedSockets(status: try? status?.get(), credentials: credentials)
        if !isOnce {
            for input in sockets.follow(configuration, as: settings.identity) { rotation.handle(input, at: now) }
        }
        for name in passed.names { log.note(.socketIgnored(name: name)) }
        let executor = makeExecutor(start, services, sockets, secretCache)
        // With `--once` nothing is kept up to date.
        let watcher =
            isOnce
            ? nil
            : Watcher(
                configuration: ConfigurationLoader.absolutePath(of: settings.path),
                stateDirectory: { [settings] in settings.stateDirectory(of: $0) }, pool: executor.pool,
                lane: { executor.lane(of: $0) }, found: channels.findings)
        OwnSandbox.whenKnownLate { channels.findings.post(.mayHaveChanged) }
        executor.adopt(loaded)
        if start.refused == nil, !isOnce { executor.keepText(loaded) }
        reviewUnits(of: configuration, executor, channels.inbox)
        // The loop runs for as long as the daemon, which needs the text and its positions no more.
        _ = consume loaded
        let loop = try Loop(
            rotation: consume rotation, channels: channels, executor: executor, sockets: sockets, watcher: watcher,
            isOnce: isOnce)
        let end = try loop.run()
        stopBy = loop.stopBy
        sockets.status?.close()
        // Meanwhile, refused callers read their answers.
        credentials?.server.beginStop()
        return finish(end, executor, loop, by: stopBy)
    }

    /// The executor of the jobs, which has the sockets follow a configuration that is adopted.
    private func makeExecutor(
        _ start: Start, _ services: ServiceClients, _ sockets: ServedSockets, _ secretCache: SecretCache
    ) -> Executor {
        let identity = settings.identity
        let channels = start.channels
        let adoptedCopy = LastGoodCopyCheck(
            of: settings.path, cancel: channels.cancel, isKept: { [settings] in settings.isKeptByRoot($0) },
            report: { [log] in log.note(.configurationNotKept($0)) })
        return Executor(
            settings: settings, naming: start.naming, state: start.state, services: services,
            secretCache: secretCache, log: log,
            runner: ActionRunner(
                as: identity, cancel: channels.cancel, redact: { secretCache.redacted($0, isCut: $1) },
                output: { [log] in log.note(.hookPrinted($0, $1)) }),
            problemWithCredential: { sockets.credentials?.problem(loadingBy: $0) },
            findings: channels.findings,
            onAdoption: { loaded in
                for input in sockets.follow(loaded.configuration, as: identity) { channels.inbox.post(input) }
                if let input = UnitsInEffect.faultOfAliases(in: loaded.configuration) { channels.inbox.post(input) }
                adoptedCopy.follow(loaded)
            })
    }

    /// Waits for the last writes, reports the result of `--once`, and returns how the run ended.
    ///
    /// - Parameter stopBy: when the daemon must have ended; nil if nothing sets that.
    private func finish(
        _ end: Snapshot, _ executor: Executor, _ loop: Loop, by stopBy: BootTime?
    ) -> DaemonExitStatus {
        let left = { stopBy.map { max(0, $0.milliseconds - Clocks.bootMilliseconds()) } ?? Self.lastTimeout }
        let unwritten = loop.unwrittenMetrics
        guard let once = loop.once else {
            if let unwritten { log.note(.metricsNotWritten(unwritten)) }
            executor.finishKeepingText(within: min(left(), Self.lastTimeout))
            ChildProcess.endStoppedBackgroundProcesses(within: min(left(), Self.lastTimeout))
            return .done
        }
        // A program that was run for it may have restarted a server.
        ChildProcess.releaseBackgroundProcesses()
        report(end)
        let outcome = SingleRunReport(end, once, unwritten: unwritten)
        for line in outcome.lines { log.note(line) }
        return outcome.status
    }

    /// How long the last write of the adopted text may take (milliseconds), and never longer than the whole stop may.
    private static let lastTimeout: Int64 = 1_000

    /// Logs once if the units run with less protection than they ship with, and reports a credential that its unit does not get.
    private func reviewUnits(of configuration: Configuration, _ executor: Executor, _ inbox: Inbox<Input>) {
        let isService = OwnUnit.hasStarted(processWith: environment)
        // Not without a thread for it: a reload asks again.
        try? executor.pool.run(in: .probes) { [log, isOnce] in
            if !isOnce, let input = UnitsInEffect.faultOfAliases(in: configuration) { inbox.post(input) }
            if isService, let words = UnitsInEffect(of: configuration)?.weakness { log.note(.sandboxWeakened(words)) }
        }
    }

    /// Nil with `--once`; else the status socket with its server, or why there is none.
    private func openStatus(
        from sockets: inout PassedSockets, _ configuration: Configuration, _ channels: LoopChannels,
        _ store: StoreServiceClient
    ) -> Result<StatusListener, Failure>? {
        guard !isOnce else { return nil }
        do throws(Failure) {
            return .success(
                try StatusListener(
                    passed: try sockets.take(StatusListener.passedName, at: socketPath, failing: .socketUnusable),
                    metrics: try sockets.take(StatusListener.metricsName, at: nil, failing: .socketUnusable),
                    path: socketPath,
                    control: ControlPermission(configuration, settings.identity),
                    handle: { [log] request, peer, requestID in
                        // A request for the fleet's reports changes nothing, so it is not logged.
                        if case .fleet = request {} else { log.note(.asked(request, Requester(peer))) }
                        if request == .reload, peer.user == 0 { store.expectChange() }
                        channels.inbox.post(.asked(request, requestID))
                    }))
        } catch {
            return .failure(error)
        }
    }

    /// Nil with `--once`.
    private func openCredentials(
        from sockets: inout PassedSockets, _ configuration: Configuration, _ secretCache: SecretCache
    ) throws(SystemError) -> CredentialSocket? {
        guard !isOnce else { return nil }
        let server = try CredentialServer(configuration, secretCache: secretCache, log: log)
        return CredentialSocket(server, from: &sockets, beside: socketPath)
    }
}
