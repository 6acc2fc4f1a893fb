import Glibc
import Rotation

/// Lines for people on standard error; under the journal each carries its urgency in front, as sd-daemon(3) has it.
struct Log: Sendable {
    private let isJournal: Bool

    /// - Parameter environment: `JOURNAL_STREAM` is set by systemd for a service whose standard error is the journal.
    init(environment: [String: String]) {
        isJournal = environment["JOURNAL_STREAM"].map(Self.isStandardError) == true
    }

    /// Whether standard error still is that stream (systemd.exec(5): device and inode), and was not sent elsewhere.
    private static func isStandardError(_ stream: String) -> Bool {
        var status = stat()
        guard unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    func note(_ entry: Entry) {
        write(entry.words, entry.urgency)
    }

    /// What a hook printed, already free of secrets.
    func output(of action: ActionID, _ line: String) {
        write("\(action): \(line)", .info)
    }

    func warn(_ text: String) {
        write(text, .warning)
    }

    func fail(_ text: String) {
        write(text, .error)
    }

    private func write(_ text: String, _ urgency: Urgency) {
        for line in text.split(separator: "\n") {
            Self.writeAll(Array(((isJournal ? "<\(urgency.rawValue)>" : "") + line + "\n").utf8))
        }
    }

    /// Nothing is left to do when standard error cannot be written.
    private static func writeAll(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return
            }
            rest = rest.dropFirst(count)
        }
    }
}
