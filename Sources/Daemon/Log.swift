import Failures
import Glibc
import Linux
import Model
import Rotation
import Systemd

/// The daemon's log: events with fields in the journal, else lines on standard error.
struct Log: Sendable {
    /// What standard error leads to.
    enum Target: Hashable, Sendable {
        case journal
        /// /dev/null, which systemd gives a service while the journal cannot be reached. It may be reachable later.
        case journalAlone
        /// A reader of the priority in front of each line (sd-daemon(3)), such as the kernel's log.
        case prefixed
        case plain
    }

    private let target: Target
    /// Nil where the journal is not the target.
    private let journal: Journal?
    private let timeout = LogTimeout()
    /// The line below the log; nil where standard error is not a terminal.
    let progress: ProgressLine?

    /// - Parameter environment: systemd's variables say whether standard error is the journal, and that it started us.
    init(environment: [String: String]) {
        target = Self.target(
            of: STDERR_FILENO, journalStream: environment["JOURNAL_STREAM"],
            isService: OwnUnit.hasStarted(processWith: environment))
        journal = target == .journal || target == .journalAlone ? try? Journal() : nil
        progress = target == .plain ? ProgressLine(on: STDERR_FILENO, environment: environment) : nil
    }

    /// Where a descriptor leads (systemd.exec(5): `JOURNAL_STREAM` is device and inode of the stream to the journal;
    /// after a redirection they differ). Terminals and regular files are read by people: no priorities there.
    static func target(of descriptor: Int32, journalStream: String?, isService: Bool) -> Target {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return .plain }
        if journalStream == "\(status.st_dev):\(status.st_ino)" { return .journal }
        if isService, status.st_mode & S_IFMT == S_IFCHR, status.st_rdev == nowhere { return .journalAlone }
        let isFile = status.st_mode & S_IFMT == S_IFREG
        return isService && !isFile && isatty(descriptor) == 0 ? .prefixed : .plain
    }

    /// /dev/null: major 1, minor 3 (Linux: Documentation/admin-guide/devices.txt).
    private static let nowhere = dev_t(1 << 8 | 3)

    /// To be called when the loop begins a step: what it logs in one may delay it by a second at most.
    func beginStep() {
        timeout.renew()
    }

    /// - Parameter clients: those that share the event's resource.
    func note(_ event: LogEvent, clients: [ClientName] = []) {
        write(event.line(clients: clients))
    }

    func note(_ event: DaemonEvent) {
        write(event.line)
    }

    private func write(_ line: LogLine) {
        guard put(line) else { return timeout.lose() }
        let lost = timeout.takeLost()
        guard lost > 0 else { return }
        if !put(DaemonEvent.linesLost(lost).line) { timeout.lose(lost) }
    }

    /// Whether it was written in time.
    private func put(_ line: LogLine) -> Bool {
        // journalctl shows an entry with a control character as a blob, and a terminal acts on one.
        let text = Printable.lines(line.words)
        if let journal {
            let entry = [
                ("MESSAGE", text), ("MESSAGE_ID", line.id), ("PRIORITY", String(line.priority.rawValue)),
                ("SYSLOG_IDENTIFIER", "clientsecretd"),
            ]
            if let isTaken = offer(entry + line.fields().map { ($0.name, Printable.line($0.value)) }, to: journal) {
                return isTaken
            }
        }
        if target == .journalAlone { return false }
        let prefix = target == .plain ? "" : "<\(line.priority.rawValue)>"
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let shown = prefix + Substring(line) + "\n"
            if let progress {
                guard timeout.wait(for: STDERR_FILENO) else { return false }
                progress.write(above: shown)
            } else if !offer(Array(shown.utf8)) {
                return false
            }
        }
        return true
    }

    /// Nil when there is no journal.
    private func offer(_ entry: [(String, String)], to journal: Journal) -> Bool? {
        // Other processes write to it too, and may fill the room before this entry is sent.
        for _ in 0..<16 {
            do throws(SystemError) {
                if try journal.send(entry) { return true }
            } catch {
                return nil
            }
            guard timeout.wait(for: journal.raw) else { return false }
        }
        return false
    }

    private func offer(_ line: [UInt8]) -> Bool {
        for first in stride(from: 0, to: line.count, by: Self.pipeRoom) {
            guard timeout.wait(for: STDERR_FILENO) else { return false }
            // Where standard error cannot be written to, there is no other place to report that.
            let piece = line[first..<min(first + Self.pipeRoom, line.count)]
            guard Descriptor.write(piece, to: STDERR_FILENO) == nil else { return false }
        }
        return true
    }

    /// A pipe that is writable takes this many bytes without blocking (PIPE_BUF of Linux).
    private static let pipeRoom = 4096
}

/// How long logging waits for its reader: a busy journal is given a moment; one that is slow or not responding, as its
/// disk may be, or a pipe that is not read must not delay the rotation.
///
/// The rules are:
/// - On the thread that made this, which is the loop's, all waits of a step take a second at most, however many lines it
///   logs. On another thread each wait does.
/// - What is not taken in time is counted. As long as something is counted, nothing waits: the count is logged with the next
///   line that is taken.
final class LogTimeout: Sendable {
    /// How many events were dropped since the last one that was written.
    private let lost = QuietMutex(0)
    private let loop = pthread_self()
    /// What is left of the loop's timeout in this step, in microseconds.
    private let left = QuietMutex(LogTimeout.timeout)

    /// In microseconds: more than a working journal needs, and too short to matter where it does not work.
    private static let timeout: Int64 = 1_000_000

    /// To be called when the loop begins a step.
    func renew() {
        left.withLock { $0 = Self.timeout }
    }

    /// Waits until a descriptor is writable, as long as time is left.
    func wait(for descriptor: Int32) -> Bool {
        guard lost.withLock({ $0 == 0 }) else { return Descriptor.waitUntilWritable(descriptor, atMost: 0) }
        guard pthread_equal(pthread_self(), loop) != 0 else {
            return Descriptor.waitUntilWritable(descriptor, atMost: Self.timeout / 1_000)
        }
        let began = Clocks.monotonicMicroseconds()
        defer {
            let waited = Clocks.monotonicMicroseconds() - began
            left.withLock { $0 = max(0, $0 - waited) }
        }
        return Descriptor.waitUntilWritable(descriptor, atMost: left.withLock { $0 } / 1_000)
    }

    func lose(_ count: Int = 1) {
        lost.withLock { $0 += count }
    }

    /// Returns and resets the count, after an event was written.
    func takeLost() -> Int {
        lost.withLock { lost in
            defer { lost = 0 }
            return lost
        }
    }
}
