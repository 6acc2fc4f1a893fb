import AppleClientSecret
internal import Failures
package import Model

/// Which configuration is current, and whether the one on disk would be adopted.
///
/// - The configuration changes only as a whole, at a start or by a reload.
/// - After a change notice, the text on disk is checked without being adopted. While it is refused, it is checked once a
///   minute: the cause, such as a lack of descriptors, may end without a notice.
struct ConfigurationWatch: Sendable {
    let path: String
    private(set) var configuration = Configuration(keys: [:], clients: [:])
    private(set) var index = ConfigurationIndex(Configuration(keys: [:], clients: [:]))
    private(set) var loadedAt: WallTime
    /// Why the configuration on disk would be refused; nil while it would not.
    private(set) var refusal: Refusal?
    /// Whether the current configuration is the last good one, because the one on disk was refused. Some of its parts may no
    /// longer be wanted. So no action runs, and only a secret that becomes critical is minted.
    private(set) var isRestrained = false
    /// When ``refusal`` was last found; nil once the configuration is being checked again.
    private var refusalSeenAt: BootTime?
    /// Change notices of the configuration's files since they were last read.
    private var notices: ChangeNotices?

    struct Refusal: Sendable {
        let lines: [String]
        /// When it was first refused.
        let since: WallTime
    }

    init(path: String, startedAt: WallTime) {
        self.path = path
        loadedAt = startedAt
    }

    /// Makes a configuration the current one; returns the one before.
    mutating func adopt(_ configuration: Configuration, at now: Now) -> Configuration {
        defer {
            self.configuration = configuration
            index = ConfigurationIndex(configuration)
            isRestrained = false
            loadedAt = now.wall
            pass()
        }
        return self.configuration
    }

    /// The current configuration is the last good one.
    mutating func restrain() {
        isRestrained = true
    }

    /// The configuration on disk would be adopted.
    mutating func pass() {
        refusal = nil
        refusalSeenAt = nil
    }

    /// Records why a configuration is not adopted; returns whether these reasons are new.
    mutating func refuse(_ lines: [String], at now: Now) -> Bool {
        defer {
            refusal = Refusal(lines: lines, since: refusal?.since ?? now.wall)
            refusalSeenAt = now.boot
        }
        return refusal?.lines != lines
    }

    mutating func notice(at now: Now) {
        notices = ChangeNotices(notices, at: now.boot)
    }

    /// Whether to check the configuration again.
    func isDue(_ timer: inout WakeTimer) -> Bool {
        // One check serves both.
        timer.met { timer in
            let isReadable = notices?.isDue(.input, &timer) == true
            let mayPass = refusalSeenAt.map { timer.reached($0 + RetryPause.localBound) } == true
            return isReadable || mayPass
        }
    }

    /// The configuration is being read: changes noticed until now need no further check.
    mutating func beginReading() {
        notices = nil
        refusalSeenAt = nil
    }

    /// The failure that a refused configuration is reported as.
    var refusalFailure: Failure? {
        refusal.map { Failure(.configurationRefused, at: .named(path), detail: $0.lines.first) }
    }

    /// Why no action runs and only critical secrets are minted; nil without that restraint.
    var restraint: Failure? {
        guard isRestrained else { return nil }
        return refusalFailure ?? Failure(.configurationNotAdopted, at: .named(path))
    }

    /// Whether the daemon is degraded because of it.
    var isReason: Bool { refusal != nil || isRestrained }
}

extension Rotation {
    /// The current configuration.
    package var configuration: Configuration { configurationWatch.configuration }

    /// The current configuration, inverted.
    var index: ConfigurationIndex { configurationWatch.index }

    mutating func configurationFinished(_ job: Job, _ result: Result<Outcome, Failure>, at now: Now) {
        switch result {
        case .success(.configuration(let configuration)):
            adopt(configuration, at: now)
            waiting.endReading(.adopted(at: now.boot))
        case .success(.passes):
            if configurationWatch.refusal != nil {
                events.append(.passes)
                touchRestrained()
            }
            configurationWatch.pass()
        case .success(.refused(let lines)): refuse(lines, .refused(lines), by: job, at: now)
        case .success(.unread(let lines)): refuse(lines, .unread(lines), by: job, at: now)
        case .failure(let failure):
            if job.work == .readConfiguration {
                refuse([failure.message], .unread([failure.message]), by: job, at: now)
            } else {
                // The check got no thread: schedule another.
                configurationWatch.notice(at: now)
            }
        case .success(let outcome): unexpected(outcome, of: job)
        }
    }

    private mutating func refuse(_ lines: [String], _ end: PendingRequest.Reload, by job: Job, at now: Now) {
        guard job.work == .readConfiguration else { return refuse(lines, LogEvent.wouldNotStart, now) }
        refuse(lines, LogEvent.refused, now)
        waiting.endReading(end)
    }

    /// Records why a configuration is not adopted; logs it if these reasons are new.
    mutating func refuse(_ lines: [String], _ event: ([String]) -> LogEvent, _ now: Now) {
        guard configurationWatch.refuse(lines, at: now) else { return }
        events.append(event(lines))
        touchRestrained()
    }

    /// The restraint, whose message has changed, is the reason of clients.
    private mutating func touchRestrained() {
        if configurationWatch.isRestrained { touchEverything() }
    }

    mutating func planConfiguration(_ timer: inout WakeTimer) {
        if waiting.wantConfiguration {
            if jobs.start(.readConfiguration, on: .configuration, &timer) {
                waiting.beginReading()
                configurationWatch.beginReading()
            }
        } else if configurationWatch.isDue(&timer), jobs.start(.checkConfiguration, on: .configuration, &timer) {
            configurationWatch.beginReading()
        }
    }
}
