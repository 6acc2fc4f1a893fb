import Failures
import Glibc
import Linux
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
    private let patience = LogPatience()
    /// The line below the log; nil where standard error is not a terminal.
    let progress: ProgressLine?

    /// - Parameter environment: systemd's variables say whether standard error is the journal, and that it started us.
    init(environment: [String: String]) {
        target = Self.target(
            of: STDERR_FILENO, journalStream: environment["JOURNAL_STREAM"],
            isService: environment["SYSTEMD_EXEC_PID"] == String(getpid()))
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

    /// - Parameter clients: those that share the event's resource.
    func note(_ entry: LogEvent, clients: [ClientName] = []) {
        write(entry.words, entry.urgency, entry.messageID, entry.fields(of: clients))
    }

    /// Logs a line that a hook printed, already free of secrets.
    func output(of action: ActionID, _ line: String) {
        write("\(action): \(line)", .info, .output, [.action(action)])
    }

    func warn(_ text: String) {
        write(text, .warning, .warning, [])
    }

    func fail(_ text: String) {
        write(text, .error, .complaint, [])
    }

    private func write(
        _ text: String, _ urgency: Urgency, _ id: MessageID, _ fields: @autoclosure () -> [JournalField]
    ) {
        // journalctl shows an entry with a control character as a blob, and a terminal acts on one.
        guard put(Printable.lines(text), urgency, id, fields) else { return patience.lose() }
        let lost = patience.takeLost()
        guard lost > 0 else { return }
        let warning = "\(lost) entries of this log before the last one are lost: nobody read them in time"
        if !put(warning, .warning, .warning, { [] }) { patience.lose(lost) }
    }

    /// Whether it was written in time.
    private func put(_ text: String, _ urgency: Urgency, _ id: MessageID, _ fields: () -> [JournalField]) -> Bool {
        if let journal {
            let entry = [
                ("MESSAGE", text), ("MESSAGE_ID", id.rawValue), ("PRIORITY", String(urgency.rawValue)),
                ("SYSLOG_IDENTIFIER", "clientsecretd"),
            ]
            if let isTaken = offer(entry + fields().map { ($0.name, Printable.line($0.value)) }, to: journal) {
                return isTaken
            }
        }
        if target == .journalAlone { return false }
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let urgency = target == .plain ? "" : "<\(urgency.rawValue)>"
            let shown = urgency + Substring(line) + "\n"
            if let progress {
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
            guard patience.wait(for: journal.raw) else { return false }
        }
        return false
    }

    private func offer(_ line: [UInt8]) -> Bool {
        for first in stride(from: 0, to: line.count, by: Self.pipeRoom) {
            guard patience.wait(for: STDERR_FILENO) else { return false }
            let piece = Array(line[first..<min(first + Self.pipeRoom, line.count)])
            guard Self.writeAll(piece, to: STDERR_FILENO) else { return false }
        }
        return true
    }

    /// A pipe that is writable takes this many bytes without blocking (PIPE_BUF of Linux).
    private static let pipeRoom = 4096

    /// False when the descriptor cannot be written to, which nobody can be told.
    @discardableResult
    static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
