import Failures
import Glibc
import Linux
import Model
import Rotation
import Systemd

/// The daemon's log: events with fields in the journal, else lines on standard error.
struct Log: Sendable {
    /// The target of standard error.
    enum Target: Hashable, Sendable {
        case journal
        /// /dev/null, which systemd gives a service while the journal cannot be reached. It may be reachable later.
        case journalAlone
        /// A reader of the priority in front of each line (sd-daemon(3)), such as the kernel's log.
        case prefixed
        case plain
    }

    private let target: Target
    /// Nil if the journal is not the target.
    private let journal: Journal?
    private let timeout = LogTimeout()

    /// - Parameter environment: systemd's variables show whether standard error is the journal, and that it started us.
    init(environment: [String: String]) {
        target = Self.target(
            of: STDERR_FILENO, journalStream: environment["JOURNAL_STREAM"],
            isService: OwnUnit.hasStarted(processWith: environment))
        journal = target == .journal || target == .journalAlone ? try? Journal() : nil
    }

    /// The target of a descriptor (systemd.exec(5): `JOURNAL_STREAM` is device and inode of the stream to the journal; after a
    /// redirection they differ). People read terminals and regular files: no priorities there.
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

    /// To be called when the loop begins a step: logging in one step may delay it by a second at most.
    func beginStep() {
        timeout.renew()
    }

    /// - Parameter clients: those that share the event's resource.
    func note(_ event: LogEvent, clients: [ClientName] = []) {
        note(event.line(clients: clients))
    }

    func note(_ line: LogLine) {
        guard put(line) else { return timeout.lose() }
        let lost = timeout.takeLost()
        guard lost > 0 else { return }
        if !put(.linesLost(lost)) { timeout.lose(lost) }
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
            guard offer(Array("\(prefix)\(Substring(line))\n".utf8)) else { return false }
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
            // If standard error cannot be written to, there is no other place to report that.
            let piece = line[first..<min(first + Self.pipeRoom, line.count)]
            guard Descriptor.write(piece, to: STDERR_FILENO) == nil else { return false }
        }
        return true
    }

    /// A pipe that is writable takes this many bytes without blocking (PIPE_BUF of Linux).
    private static let pipeRoom = 4096
}
