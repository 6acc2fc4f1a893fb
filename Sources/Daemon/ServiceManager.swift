import AppleClientSecret
import Linux
import Rotation
import Systemd

/// Tells the service manager how the daemon fares, and never waits for it: what it does not take in now it is told when
/// it reads again. Where nobody asked to be told, nothing is sent.
struct ServiceManager {
    private let log: Log
    private let socket: NotifySocket?
    private var notifyQueue = NotifyQueue()
    /// There was no room for what lies in the outbox.
    private var isFull = false
    /// Since the first turn of the loop that found it so.
    private var fullSince: BootTime?
    /// Half of what the watchdog allows, in milliseconds; nil when nobody watches.
    private let pace = Watchdog.interval().map { max($0 / 2, 1) }
    private var nextPing: BootTime?
    private var lastLine: String?
    private var phase = Phase.starting
    private var lastDone = 0
    private var nextProgress: BootTime?
    /// Until it was complained of.
    private var isHeard = true

    private enum Phase {
        case starting
        case ready
        case reloading
        case stopping
    }

    /// How much time is asked for whenever a start has come further. A file system that hangs is given up on after half
    /// of it, so that progress goes on.
    private static let patience: Int64 = 60_000
    /// A person who watches a long start looks no more often.
    private static let progressInterval: Int64 = 1_000

    /// A manager that has much to do is behind for a while; one that is frozen, or wanted to hear of nothing but READY, for
    /// longer.
    private static let readingTime: Int64 = 5_000

    /// Whether anybody asked to be told.
    var isListening: Bool { socket != nil }

    /// What everything is sent through; nil where nobody asked.
    var raw: Int32? { socket?.raw }

    /// What becomes writable once there is room for what waits; nil when nothing waits for that. Then ``goOn()`` is called.
    var full: Int32? { isFull ? raw : nil }

    init(log: Log) {
        self.log = log
        do throws(SystemError) {
            socket = try NotifySocket()
        } catch {
            socket = nil
            log.warn("the service manager cannot be told: \(error)")
        }
    }

    /// To be called on each turn of the loop, and from nowhere else: a loop that hangs is noticed by its silence.
    ///
    /// - Returns: when the loop has to come round again; nil when there is no need.
    mutating func alive(at now: BootTime) -> BootTime? {
        [ping(at: now), complain(at: now)].compactMap { $0 }.min()
    }

    private mutating func ping(at now: BootTime) -> BootTime? {
        guard let pace else { return nil }
        if let nextPing, now < nextPing { return nextPing }
        tell(.watchdog)
        nextPing = now.advanced(milliseconds: pace)
        return nextPing
    }

    /// Says how things stand in one line, and once that every client was tried.
    mutating func show(_ snapshot: Snapshot, at now: BootTime) {
        guard phase != .starting || snapshot.ready else { return showProgress(of: snapshot, at: now) }
        var messages: [Notify.Message] = []
        let line = snapshot.statusLine
        if line != lastLine { messages.append(.status(line)) }
        lastLine = line
        if phase == .starting {
            phase = .ready
            messages.append(.ready)
        }
        tell(messages)
    }

    /// A start of thousands of clients takes its time: as long as it comes further it is given more.
    private mutating func showProgress(of snapshot: Snapshot, at now: BootTime) {
        if let nextProgress, now < nextProgress { return }
        let progress = snapshot.progress
        guard progress.done > lastDone || nextProgress == nil else { return }
        nextProgress = now.advanced(milliseconds: Self.progressInterval)
        lastDone = progress.done
        tell(.status(progress.words), .extendTimeout(milliseconds: Self.patience))
    }

    /// A reload begins and ends; also one that is refused, and one that was not asked for by systemd.
    mutating func reload(isGoingOn: Bool) {
        switch (phase, isGoingOn) {
        case (.ready, true):
            phase = .reloading
            tell(.reloading(since: Clocks.monotonicMicroseconds()))
        case (.reloading, false):
            phase = .ready
            tell(.ready)
        default: break
        }
    }

    mutating func stop() {
        phase = .stopping
        tell(.stopping)
    }

    /// Why the daemon ends before it was told to; shown by `systemctl status` until the next start.
    func fail(_ why: String, errno: Int32? = nil) {
        var last = self
        last.tell([.status(why)] + (errno.map { [.failed(errno: $0)] } ?? []))
    }

    private mutating func tell(_ messages: Notify.Message...) {
        tell(messages)
    }

    private mutating func tell(_ messages: [Notify.Message]) {
        guard isListening, !messages.isEmpty else { return }
        notifyQueue.add(messages)
        goOn()
    }

    /// Sends what was not told yet, as far as there is room.
    mutating func goOn() {
        guard let socket, !notifyQueue.isEmpty else { return }
        do throws(SystemError) {
            while !notifyQueue.isEmpty {
                isFull = try !socket.send(notifyQueue.next)
                if isFull { return }
                notifyQueue.removeNext()
            }
        } catch {
            isFull = false
            // Once, not for each word that nobody hears.
            if isHeard { log.warn("the service manager cannot be told: \(error)") }
            isHeard = false
            return
        }
        // As urgent as the complaint, for whoever has seen that.
        if !isHeard { log.warn("the service manager is told again how the daemon fares") }
        isHeard = true
    }

    /// Says once that nobody reads what is sent.
    ///
    /// - Returns: when that has to be said; nil when it need not be.
    private mutating func complain(at now: BootTime) -> BootTime? {
        guard let socket, isFull else {
            fullSince = nil
            return nil
        }
        let since = fullSince ?? now
        fullSince = since
        guard isHeard else { return nil }
        let due = since.advanced(milliseconds: Self.readingTime)
        guard now >= due else { return due }
        log.warn(
            "the service manager does not read what it is told (NOTIFY_SOCKET=\(socket.address)); the daemon goes on, and "
                + "tells it as soon as it does")
        isHeard = false
        return nil
    }
}

extension Snapshot {
    /// One line for `systemctl status`.
    var statusLine: String {
        if let reason { return "\(health.rawValue): \(reason.failure.sentence)" }
        let next = clients.compactMap { client in client.renewAt.map { (at: $0, name: client.name) } }.min {
            $0.at < $1.at
        }
        let count = clients.count == 1 ? "1 client" : "\(clients.count) clients"
        return "ok: \(count)" + (next.map { "; next renewal \($0.at), \($0.name)" } ?? "")
    }
}
