import AppleClientSecret
import Linux
import Model
import Systemd

/// Reports the daemon's state to the service manager without waiting for it: messages that it does not take now are
/// sent when it reads again. Without `NOTIFY_SOCKET` nothing is sent.
struct ServiceManagerNotifications {
    private let log: Log
    private let socket: NotifySocket?
    private var notifyQueue = NotifyQueue()
    /// Whether the socket has no room for the queue.
    private var isFull = false
    /// Half of the watchdog's time, in milliseconds; nil without a watchdog.
    private let interval = Watchdog.interval().map { max($0 / 2, 1) }
    private var nextPing: BootTime?
    private var lastLine: String?
    private var phase = Phase.starting
    /// Whether it was logged that the manager cannot be notified.
    private var isUnreachable = false

    private enum Phase {
        case starting
        case ready
        case reloading
        case stopping
    }

    /// Whether there is a service manager.
    var isListening: Bool { socket != nil }

    /// The socket's descriptor; nil without a service manager.
    var raw: Int32? { socket?.raw }

    /// Becomes writable when there is room again; then ``sendQueued()`` is called. Nil while nothing waits for that.
    var full: Int32? { isFull ? raw : nil }

    init(log: Log) {
        self.log = log
        do throws(SystemError) {
            socket = try NotifySocket()
        } catch {
            socket = nil
            log.note(.managerUnreachable(error))
        }
    }

    /// Called on each iteration of the loop, and nowhere else, so that the watchdog notices a loop that is stuck.
    ///
    /// - Returns: when it has to be called again; nil when there is no need.
    mutating func alive(at now: BootTime) -> BootTime? {
        guard let interval else { return nil }
        if let nextPing, now < nextPing { return nextPing }
        notify([.watchdog])
        nextPing = now.advanced(milliseconds: interval)
        return nextPing
    }

    /// Once every client was tried, sends that, and from then on the state in one line.
    mutating func show(_ snapshot: Snapshot) {
        guard phase != .starting || snapshot.ready else { return }
        var messages: [Notify.Message] = []
        let line = snapshot.statusLine
        if line != lastLine { messages.append(.status(line)) }
        lastLine = line
        if phase == .starting {
            phase = .ready
            messages.append(.ready)
        }
        notify(messages)
    }

    /// Reports the begin and end of a reload, also of one that is refused or that systemd did not ask for.
    mutating func reload(isGoingOn: Bool) {
        switch (phase, isGoingOn) {
        case (.ready, true):
            phase = .reloading
            notify([.reloading(since: Clocks.monotonicMicroseconds())])
        case (.reloading, false):
            phase = .ready
            notify([.ready])
        default: break
        }
    }

    mutating func stop() {
        phase = .stopping
        notify([.stopping])
    }

    /// Why the daemon ends on its own; shown by `systemctl status` until the next start.
    func fail(_ why: String, errno: Int32? = nil) {
        var last = self
        last.notify([.status(why)] + (errno.map { [.failed(errno: $0)] } ?? []))
    }

    private mutating func notify(_ messages: [Notify.Message]) {
        guard isListening, !messages.isEmpty else { return }
        notifyQueue.add(messages)
        sendQueued()
    }

    /// Sends the queue, as far as there is room.
    mutating func sendQueued() {
        guard let socket, !notifyQueue.isEmpty else { return }
        do throws(SystemError) {
            while !notifyQueue.isEmpty {
                isFull = try !socket.send(notifyQueue.next)
                if isFull { return }
                notifyQueue.removeNext()
            }
        } catch {
            isFull = false
            // Once, not for each message.
            if !isUnreachable { log.note(.managerUnreachable(error)) }
            isUnreachable = true
        }
    }
}
