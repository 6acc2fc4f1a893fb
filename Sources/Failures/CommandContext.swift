import Synchronization

/// Facts about this process's start that commands must name, or that limit them.
package struct CommandContext: Hashable, Sendable {
    /// The configuration's absolute path; nil: the default.
    package var configuration: String?
    /// The status socket's absolute path; nil: the default of the package's units.
    package var socket: String?
    /// Whether the package's service may read that configuration.
    package var isServices: Bool
    /// Whether systemd runs this machine.
    package var hasSystemd: Bool
    /// Whether there is a daemon that can be asked.
    package var hasDaemon: Bool
    /// The remedy if the service runs, and has no socket at which it can be asked; nil if that was not found.
    package var remedyForSocket: Remedy?
    /// The unit that was found to run the daemon; nil if none was looked for.
    package var unit: String?
    /// Whether a daemon at the socket is that of the configuration, as far as the command line tells.
    package var knowsDaemon: Bool
    /// The socket, also the default one, if only its being named says that its daemon is the configuration's. A command about the
    /// configuration names it again.
    package var decidingSocket: String?
    /// Units whose next start would fail. No command starts, restarts or reloads one of them, because that would end a process
    /// that runs now.
    package var unstartable: Set<String> = []
    /// The lines of the files to which commands add lines, as far as root has read them; none for a file that does not exist. No
    /// command adds a line again that takes no effect.
    package var addedLines: [String: [String]] = [:]

    /// - Parameter isServices: nil: it reads the default one.
    package init(
        configuration: String? = nil, isServices: Bool? = nil, socket: String? = nil, hasSystemd: Bool = true,
        hasDaemon: Bool = true, unit: String? = nil, knowsDaemon: Bool = true
    ) {
        self.configuration = configuration
        self.isServices = isServices ?? (configuration == nil)
        self.socket = socket
        self.hasSystemd = hasSystemd
        self.hasDaemon = hasDaemon
        self.unit = unit
        self.knowsDaemon = knowsDaemon
    }

    /// Whether the package's service may be meant, with its directories.
    package var isOfPackage: Bool { hasSystemd && isServices }

    /// The unit that runs the daemon; nil if another daemon than the package's may be meant, and its unit is not known.
    var daemonUnit: String? {
        unit ?? (isServices && socket == nil ? PackageUnit.daemon : nil)
    }

    /// Those of these lines that a file lacks, as far as that is known. One that a later line of the file undoes counts as missing:
    /// an empty value, or another source of the same credential.
    package func missing(_ lines: [String], from file: String) -> [String] {
        let present = addedLines[file] ?? []
        return lines.filter { line in
            guard let last = present.lastIndex(of: line) else { return true }
            let setting: Substring = line.prefix { $0 != "=" } + "="
            let credential: Substring? = setting == "LoadCredential=" ? line.prefix { $0 != ":" } + ":" : nil
            return present[(last + 1)...].contains { later in
                later == setting || credential.map { later.hasPrefix($0) } == true
            }
        }
    }

    /// Whether the lines of a file are known. Only root may read polkit's rules.
    package func knowsLines(of file: String) -> Bool { addedLines[file] != nil }

    private static let shared = Mutex(CommandContext())

    /// Of this process: a service of the package, unless ``use()`` said otherwise.
    package static var current: CommandContext { shared.withLock { $0 } }

    /// Makes it the process's, once at the start.
    package func use() {
        Self.shared.withLock { $0 = self }
    }
}
