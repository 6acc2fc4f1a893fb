import AppleClientSecret
import ArgumentParser
import Config
import Daemon
import Failures
import Formats
import Glibc
import Rotation

/// `init`: writes a first configuration.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a first configuration.",
        discussion: "An existing file is never overwritten; '--config -' prints the configuration instead.")

    @OptionGroup var settings: ConfigurationOption

    @Option(help: ArgumentHelp("The team's id.", valueName: "id"), transform: Flags.team)
    var teamID: TeamID

    @Option(help: ArgumentHelp("The Services ID or App ID.", valueName: "id"), transform: Flags.clientID)
    var clientID: ClientID

    @Option(
        help: ArgumentHelp("The private key from Apple.", valueName: "file"), completion: .file(),
        transform: Flags.path)
    var key: AbsolutePath

    @Option(
        help: ArgumentHelp("The key's id (default: from a file name AuthKey_<KEYID>.p8).", valueName: "id"),
        transform: Flags.keyID)
    var keyID: KeyID?

    @Option(help: "The client's name, for people (default: web).", transform: Flags.clientName)
    var name: ClientName?

    @Option(
        help: ArgumentHelp("Where the secret is written.", valueName: "file"), completion: .file(),
        transform: Flags.path)
    var output: AbsolutePath

    @OptionGroup var form: FormOptions

    @Option(
        help: ArgumentHelp("The unit that is restarted when the secret has changed.", valueName: "unit"),
        transform: Flags.unit)
    var restart: String?

    mutating func validate() throws {
        _ = try Flags.keyID(keyID, of: key)
    }

    func run() throws {
        let id = try Flags.keyID(keyID, of: key)
        guard let name = name ?? ClientName("web") else { throw CleanExit.helpRequest(self) }
        let first = FirstConfiguration(
            team: teamID, keyID: KeyID(fileName: key.name) == id ? nil : id, key: key,
            name: name, client: clientID, output: output, format: form.format.type, variable: form.variable,
            restarted: restart)
        let path = settings.path(Environment.current)
        if path == NamedFile.standardInput {
            try Streams.answer(bytes: Array(first.text.utf8))
            return
        }
        try Self.create(path, holding: first.text)
        try Streams.answer(
            """
            Wrote \(path). Next:
              clientsecretd check --config \(ShellWord.quoted(path))
            says what the daemon would do and what is still missing; then start it:
              systemctl enable --now clientsecretd
            or without systemd:
              clientsecretd run --config \(ShellWord.quoted(path))
            """)
        guard let restart, let failure = UnitPermission.obstacle(to: .unit(verb: .restart, unit: restart)) else {
            return
        }
        Streams.complain(lines: failure.sentence)
    }

    /// Creates the file, writable by its owner and readable by all: it holds no secret.
    private static func create(_ path: String, holding text: String) throws(CommandFailure) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            switch errno {
            case EEXIST:
                throw CommandFailure(
                    .failed, "\(path) exists and is left as it is; name another with --config, or remove it")
            case EACCES, EPERM:
                throw CommandFailure(.notPermitted, "\(path) cannot be made: \(Streams.text(ofErrno: errno))")
            case ENOENT:
                throw CommandFailure(
                    .failed, "\(path) cannot be made: its directory does not exist; make it with mkdir -p")
            default: throw CommandFailure(.failed, "\(path) cannot be made: \(Streams.text(ofErrno: errno))")
            }
        }
        defer { close(descriptor) }
        if let number = Streams.write(Array(text.utf8), to: descriptor) {
            _ = unsafe unlink(path)
            throw CommandFailure(.failed, "\(path) cannot be written: \(Streams.text(ofErrno: number))")
        }
    }
}

/// The configuration that `init` writes.
struct FirstConfiguration {
    var team: TeamID
    /// Nil when the key file's name contains it.
    var keyID: KeyID?
    var key: AbsolutePath
    var name: ClientName
    var client: ClientID
    var output: AbsolutePath
    var format: any OutputFormat.Type
    var variable: String?
    /// The unit to restart when the secret has changed.
    var restarted: String?

    var text: String {
        var lines = [
            "# Made by clientsecretd init. 'clientsecretd check' says what the daemon would do with it.",
            "keys:",
            "  apple:",
            "    team_id: \(team)",
        ]
        if let keyID { lines.append("    key_id: \(keyID)") }
        lines += [
            "    file: \(Self.scalar(key.description))",
            "",
            "clients:",
            "  \(Self.scalar(name.description)):",
            "    client_id: \(client)",
            "    # How long a secret lives, and how long before its expiry it is replaced.",
            "    lifetime: 90d",
            "    renew_before: 30d",
            "    outputs:",
            "      - path: \(Self.scalar(output.description))",
            "        format: \(format.name)",
        ]
        if let variable { lines.append("        variable: \(variable)") }
        if let restarted { lines += ["    on_change:", "      - restart: \(Self.scalar(restarted))"] }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A YAML scalar (YAML 1.2, chapter 7): plain where no character has a meaning in YAML, else in single quotes,
    /// where only the quote itself has one. Neither a path nor a name holds a line break.
    private static func scalar(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 48...57: true
            default: "/._-".utf8.contains(byte)
            }
        }
        guard !isPlain || text.hasPrefix("-") || text.hasPrefix(".") else { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}
