/// The user and the groups of a process, as /proc/PID/status has them (proc_pid_status(5)).
package struct ProcessStatus: Sendable {
    private let text: [UInt8]

    /// Nil when the process has ended.
    package init?(ofProcess id: Int32) {
        guard let text = ForeignFile.read("/proc/\(id)/status", limit: 1 << 20) else { return nil }
        self.init(text)
    }

    package init(_ text: [UInt8]) { self.text = text }

    /// The user that started it; nil if the text does not tell.
    package var user: UInt32? { numbers("Uid:").first }

    /// The group that it runs as, and its supplementary ones.
    package var groups: Set<UInt32> {
        // The effective one is the second.
        Set(numbers("Gid:").dropFirst().prefix(1) + numbers("Groups:"))
    }

    private func numbers(_ name: String) -> [UInt32] {
        guard let line = text.split(separator: UInt8(ascii: "\n")).first(where: { $0.starts(with: name.utf8) })
        else { return [] }
        return String(decoding: line.dropFirst(name.utf8.count), as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .compactMap { UInt32($0) }
    }
}
