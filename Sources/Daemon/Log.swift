import Glibc
import Rotation
import Systemd

/// What the daemon says: entries with fields for the journal, else lines for people on standard error.
struct Log: Sendable {
    /// What standard error leads to.
    enum Target: Hashable, Sendable {
        case journal
        /// Something that reads each line's urgency in front of it (sd-daemon(3)), such as the kernel's log.
        case prefixed
        case plain
    }

    private let target: Target
    /// Below the lines for a person who watches; nil where nobody does.
    let progress: ProgressLine?

    /// - Parameter environment: systemd says in it whether standard error is the journal, and that it started us.
    init(environment: [String: String]) {
        target = Self.target(
            of: STDERR_FILENO, journalStream: environment["JOURNAL_STREAM"],
            isService: environment["SYSTEMD_EXEC_PID"] == String(getpid()))
        progress = target == .plain ? ProgressLine(on: STDERR_FILENO, environment: environment) : nil
    }

    /// Where a descriptor leads (systemd.exec(5): `JOURNAL_STREAM` is device and inode of the stream to the journal; what
    /// was sent elsewhere since is another). A terminal and a file of a person's choice are read by people.
    static func target(of descriptor: Int32, journalStream: String?, isService: Bool) -> Target {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return .plain }
        if journalStream == "\(status.st_dev):\(status.st_ino)" { return .journal }
        let isFile = status.st_mode & S_IFMT == S_IFREG
        return isService && !isFile && isatty(descriptor) == 0 ? .prefixed : .plain
    }

    /// - Parameter clients: those that share what the entry speaks of.
    func note(_ entry: Entry, clients: [ClientName] = []) {
        write(entry.words, entry.urgency, entry.messageID, entry.fields(of: clients))
    }

    /// What a hook printed, already free of secrets.
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
        if target == .journal {
            let entry = [
                ("MESSAGE", text), ("MESSAGE_ID", id.rawValue), ("PRIORITY", String(urgency.rawValue)),
                ("SYSLOG_IDENTIFIER", "clientsecretd"),
            ]
            if Journal.send(entry + fields().map { ($0.name, $0.value) }) { return }
        }
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let urgency = target == .plain ? "" : "<\(urgency.rawValue)>"
            let shown = urgency + Substring(line) + "\n"
            if let progress {
                progress.write(above: shown)
            } else {
                Self.writeAll(Array(shown.utf8), to: STDERR_FILENO)
            }
        }
    }

    /// Nothing is left to do when standard error cannot be written.
    static func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return
            }
            rest = rest.dropFirst(count)
        }
    }
}
