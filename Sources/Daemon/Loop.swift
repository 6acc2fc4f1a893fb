import AppleClientSecret
import Failures
import Linux
import Model
import Rotation
import State
import StatusAPI

/// The main loop: the core handles inputs and plans, the executor runs jobs, and the main thread sleeps in between.
///
/// Not Sendable: it stays on the thread that created it.
final class Loop {
    private var rotation: Rotation
    private let channels: LoopChannels
    private let executor: Executor
    private let log: Log
    private let server: StatusServer?
    /// Nil with `--once`, which serves nothing.
    private let credentials: CredentialServer?
    /// Nil with `--once`, which keeps nothing up to date.
    private let watcher: Watcher?
    private let epoll: Epoll
    private let wallTimer: WallTimer
    private let bootTimer: BootTimer
    private let signals: SignalDescriptor

    /// Whether epoll waits for inotify events. The first event ends that (EPOLLONESHOT), because the watcher reads them once a
    /// second at most. With an empty set of interest flags, each event in between would still wake this thread within the
    /// kernel.
    private var isListening = true
    /// Whether epoll knows the watcher's descriptor, which is missing as long as no inotify instance can be had.
    private var isNoticing = false
    /// Whether it was reported that changes of files are not noticed.
    private var wasMissingWatches = false
    /// The times that the timers are set to; nil when they have to be set again.
    private var armed: (wall: WallTime?, boot: BootTime?)?

    /// Nil without `--once`.
    private(set) var once: SingleRunLog?
    private var lastShown: BootTime?
    private var lastSnapshot: Snapshot?
    /// The observations of the clock that were last kept, and their state directory.
    private var keptClock: ClockRun?
    private weak var clockKeeper: StateDirectory?
    private var manager: ServiceManagerNotifications
    private var stopAt: BootTime?
    /// When a reload is carried out that another user than root has asked for by a signal, or several times.
    private var reloadAt: BootTime?
    private var reloadLimit = RateLimit(1, in: RateLimitedRequest.pause)
    /// When the state directory is checked because something in it or above it has changed, or a mount.
    private var stateCheckAt: BootTime?

    private enum Tag: UInt64 {
        case wallTimer
        case bootTimer
        case signals
        case inbox
        case watcher
        case mounts
        case findings
        case manager
        case store
    }

    /// The least time between two snapshots, in milliseconds: no reader needs more than ten a second.
    private static let showInterval: Int64 = 100
    /// A stop may take 5 s. Jobs that have not ended after four of them are left to the next start.
    private static let stopTimeout: Seconds = 4
    private static let lastSteps: Seconds = 1
    /// When a stop that was asked for has to be over, with all that follows the jobs.
    var stopBy: BootTime? { stopAt.map { $0 + Self.lastSteps } }
    /// Why `metrics_file` was not written at the end; nil if it was, or was not to be.
    var unwrittenMetrics: Failure? { rotation.unwrittenMetrics }

    /// How long the state directory is not read after a change of it, in milliseconds. A user who empties or replaces it has
    /// then finished before the daemon creates it again.
    private static let statePause: Int64 = 2_000

    init(
        rotation: Rotation, channels: LoopChannels, executor: Executor, sockets: ServedSockets, watcher: Watcher?,
        isOnce: Bool
    ) throws(SystemError) {
        self.rotation = rotation
        self.channels = channels
        self.executor = executor
        log = executor.log
        server = sockets.status?.server
        credentials = sockets.credentials?.server
        self.watcher = watcher
        once = isOnce ? SingleRunLog() : nil
        manager = ServiceManagerNotifications(log: log)
        clockKeeper = executor.state.known
        keptClock = clockKeeper?.clock.run
        epoll = try Epoll()
        wallTimer = try WallTimer()
        bootTimer = try BootTimer()
        signals = try SignalDescriptor()
        try epoll.add(wallTimer.raw, tag: Tag.wallTimer.rawValue)
        try epoll.add(bootTimer.raw, tag: Tag.bootTimer.rawValue)
        try epoll.add(signals.raw, tag: Tag.signals.rawValue)
        try epoll.add(channels.inbox.raw, tag: Tag.inbox.rawValue)
        try epoll.add(channels.findings.raw, tag: Tag.findings.rawValue)
        // A change of /proc/self/mountinfo is an error condition (proc(5)). epoll always reports EPOLLERR, so that no
        // interest flags are needed.
        if let mounts = watcher?.mountsRaw { try epoll.add(mounts, tag: Tag.mounts.rawValue, for: []) }
        try epoll.add(executor.services.store.raw, tag: Tag.store.rawValue)
        if let raw = manager.raw { try epoll.add(raw, tag: Tag.manager.rawValue, for: .once) }
    }

    /// Runs until a signal, or until everything was tried once; returns the last snapshot.
    func run() throws(SystemError) -> Snapshot {
        while true {
            // Before the results of jobs: a stop by systemd ends this process's programs after the process gets its signal.
            for (signal, sender) in try signals.read() { take(signal, from: sender) }
            let now = Now.current
            log.beginStep()
            for input in channels.inbox.drain() { rotation.handle(input, at: now) }
            if let reloadAt, now.boot >= reloadAt {
                self.reloadAt = nil
                reloadLimit.note(at: now.boot)
                rotation.handle(.asked(.reload, nil), at: now)
            }
            try watch(at: now)
            let step = rotation.plan(at: now)
            keep(rotation.clockRun)
            credentials?.serve(step.served)
            executor.start(step.start) { [channels] in channels.inbox.post($0) }
            for event in step.changes {
                let clients = rotation.clients(of: event)
                for entry in once?.take(event, clients) ?? [(event, clients)] {
                    log.note(entry.event, clients: entry.clients)
                }
                if case .configured = event { watcher?.follow(rotation.configuration, at: now.boot) }
            }
            manager.reload(isGoingOn: rotation.isReloading)
            // Before the answers: a client that then reads the status must not see the old one.
            let cannotWait = step.ended || !step.answers.isEmpty || step.changes.contains(.ready)
            let mustShow = show(at: now, isLast: cannotWait)
            for (requestID, answer) in step.answers { server?.answer(requestID, answer) }
            if step.ended { return snapshot(at: now) }
            if let stopAt, now.boot >= stopAt {
                log.note(.stoppedEarly(jobs: rotation.runningJobs))
                return snapshot(at: now)
            }
            executor.secretCache.forgetUnused(
                clients: rotation.configuration.clients.count, isIdle: rotation.isIdle,
                inUse: rotation.fingerprintsInUse)
            try sleep(until: step.wake, mustShow: mustShow, now: now)
        }
    }

    /// Has the state directory keep the observations of the clock, also a directory that can only be used since now.
    private func keep(_ run: ClockRun?) {
        guard let run, let directory = executor.state.known, run != keptClock || directory !== clockKeeper
        else { return }
        keptClock = run
        clockKeeper = directory
        executor.keep(run)
    }

    private func sleep(until wake: Wake, mustShow: BootTime?, now: Now) throws(SystemError) {
        let boot = [
            wake.boot, mustShow, stopAt, reloadAt, stateCheckAt, watcher?.wake, manager.alive(at: now.boot),
        ]
        .compactMap { $0 }.min()
        if armed == nil || armed?.wall != wake.wall { try wallTimer.arm(at: wake.wall?.secondsSinceEpoch) }
        if armed == nil || armed?.boot != boot {
            try bootTimer.arm(after: boot.map { max(0, $0.milliseconds - now.boot.milliseconds) })
        }
        armed = (wake.wall, boot)
        if let raw = watcher?.raw, watcher?.isListening == true, !isListening {
            try epoll.modify(raw, tag: Tag.watcher.rawValue, for: [.readable, .once])
            isListening = true
        }
        if let full = manager.full { try epoll.modify(full, tag: Tag.manager.rawValue, for: [.writable, .once]) }
        for event in try epoll.wait() {
            switch Tag(rawValue: event.tag) {
            case .wallTimer:
                armed = nil
                if case .clockWasSet? = try wallTimer.read() { rotation.handle(.clockSet, at: Now.current) }
            case .bootTimer:
                armed = nil
                _ = try bootTimer.read()
            case .manager: manager.sendQueued()
            case .mounts:
                executor.readMounts()
                watcher?.noteMounts(at: Now.current.boot)
                // Its own file system may be read-only now, which no directory gives notice of.
                stateCheckAt = stateCheckAt ?? Now.current.boot.advanced(milliseconds: Self.statePause)
            case .watcher: isListening = false
            case .store:
                for input in executor.services.store.takeNotices() { rotation.handle(input, at: Now.current) }
            case .signals, .inbox, .findings, nil:
                break
            }
        }
    }

    /// Gives the core the notices of changed files.
    private func watch(at now: Now) throws(SystemError) {
        let found = channels.findings.drain()
        guard let watcher else { return }
        try follow(watcher)
        var debounce = watcher.handle(found, at: now.boot)
            .union(try watcher.read(at: now.boot))
            .union(watcher.poll(at: now.boot))
        if debounce.remove(.state) != nil {
            stateCheckAt = stateCheckAt ?? now.boot.advanced(milliseconds: Self.statePause)
        }
        if let stateCheckAt, now.boot >= stateCheckAt {
            self.stateCheckAt = nil
            executor.checkState()
        }
        for resource in debounce { rotation.handle(.changeNoticed(resource), at: now) }
        reportMissingWatches(of: watcher, at: now)
    }

    /// Waits for notices as soon as there are any.
    private func follow(_ watcher: Watcher) throws(SystemError) {
        guard !isNoticing, let raw = watcher.raw else { return }
        try epoll.add(raw, tag: Tag.watcher.rawValue, for: [.readable, .once])
        isNoticing = true
    }

    /// Reports as long as changes of files are not noticed.
    private func reportMissingWatches(of watcher: Watcher, at now: Now) {
        let isMissingWatches = watcher.raw == nil || watcher.isMissingWatches
        if isMissingWatches {
            let failure = Failure(.noNotices, at: .named("inotify"))
            rotation.handle(.faultRaised(failure, nextAttempt: watcher.nextPoll), at: now)
        } else if wasMissingWatches {
            rotation.handle(.faultCleared(.noNotices), at: now)
        }
        wasMissingWatches = isMissingWatches
    }

    /// - Parameter sender: nil: not known.
    private func take(_ signal: Signal, from sender: UInt32?) {
        switch signal {
        case .terminate, .interrupt:
            guard stopAt == nil else { return }
            let now = Now.current
            stopAt = now.boot + Self.stopTimeout
            manager.stop()
            channels.cancel.signal()
            rotation.handle(.stop, at: now)
        case .hangUp where sender == 0:
            executor.services.store.expectChange()
            rotation.handle(.asked(.reload, nil), at: Now.current)
        case .hangUp:
            // A hook runs as the daemon's own user, and has the same rate limit as at the status socket.
            let now = Now.current.boot
            reloadAt = reloadAt ?? reloadLimit.next(at: now) ?? now
        case .childEnded:
            ChildProcess.reapOrphans()
        }
    }

    /// The rotation's snapshot, with the version, which the rotation does not know.
    private func snapshot(at now: Now) -> Snapshot {
        var snapshot = rotation.snapshot(at: now)
        snapshot.version = Version.current
        return snapshot
    }

    /// Gives the snapshot to all that show it, unless that was done just now.
    ///
    /// - Returns: when it has to be done at the latest; nil when it was.
    private func show(at now: Now, isLast: Bool) -> BootTime? {
        if let lastShown, !isLast {
            let next = lastShown.advanced(milliseconds: Self.showInterval)
            if now.boot < next { return next }
        }
        lastShown = now.boot
        // With `--once` nothing may show a snapshot; then none is taken.
        let isShown = server != nil || manager.isListening
        guard isShown else { return nil }
        let snapshot = snapshot(at: now)
        guard snapshot != lastSnapshot else { return nil }
        lastSnapshot = snapshot
        server?.show(snapshot)
        manager.show(snapshot)
        return nil
    }
}
