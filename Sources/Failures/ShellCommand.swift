/// A command line for POSIX's sh that root may type as printed.
///
/// It can only be built here. Those that change something are built from the component that failed, as it was found, and
/// are nil where they would not be safe:
/// - An existing directory keeps its owner and mode.
/// - A key becomes readable only to the daemon's user, and nothing is given to another user than the one who writes
///   or reads it by the configuration.
/// - A link that a stranger placed is removed, never followed. What else a stranger placed is not touched.
/// - Where another user than root controls a directory on the way, the command runs with that user's rights.
package struct ShellCommand: Hashable, Sendable {
    package let text: String

    /// Nil where one of the words may not be pasted.
    fileprivate init?(_ line: Line) {
        guard let text = line.text else { return nil }
        self.text = text
    }

    fileprivate init(text: String) {
        self.text = text
    }

    /// This command, then `next` if this one succeeds; nil where there is no `next`.
    package func then(_ next: ShellCommand?) -> ShellCommand? {
        next.map { ShellCommand(text: "\(text) && \($0.text)") }
    }

    /// With the rights of the user who controls the directories on the way.
    fileprivate func run(as keeper: PathComponent.User) -> ShellCommand? {
        keeper.id == 0 ? self : ShellCommand("runuser -u \(keeper.name) -- \(self)")
    }
}

/// A line in the making. Text interpolated into it becomes one word, quoted where needed; a command becomes a part of it.
private struct Line: ExpressibleByStringInterpolation {
    let text: String?

    init(stringLiteral text: String) {
        self.text = text
    }

    init(stringInterpolation parts: StringInterpolation) {
        text = parts.isPasteable ? parts.text : nil
    }

    struct StringInterpolation: StringInterpolationProtocol {
        var text = ""
        var isPasteable = true

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) {
            text += literal
        }

        mutating func appendInterpolation(_ word: String) {
            isPasteable = isPasteable && ShellWord.isPasteable(word)
            text += ShellWord.quoted(word)
        }

        /// Words with blanks between them.
        mutating func appendInterpolation(_ words: [String]) {
            isPasteable = isPasteable && words.allSatisfy(ShellWord.isPasteable)
            text += words.map(ShellWord.quoted).joined(separator: " ")
        }

        /// A word that a unit file or tmpfiles.d would split or change makes the command nil.
        mutating func appendInterpolation(plain word: String) {
            isPasteable = isPasteable && ShellWord.isPlain(word)
            text += word
        }

        mutating func appendInterpolation(_ command: ShellCommand) {
            text += command.text
        }
    }
}

// MARK: Directories and links

extension ShellCommand {
    /// Creates a directory that does not exist and those above it, and gives it to `owner`. `mkdir` fails where there is
    /// one by now, and nothing is given away then; only its maker can put something below the first.
    ///
    /// - Parameters:
    ///   - first: the highest of the missing directories, in `parent`.
    ///   - parent: the deepest directory that exists.
    package static func makeDirectory(
        _ path: String, from first: String, in parent: PathComponent, for owner: PathComponent.User,
        mode: String = "0755"
    ) -> ShellCommand? {
        guard let keeper = parent.keeper, parent.isKeptDirectory, keeper.id == owner.id || keeper.id == 0 else {
            return nil
        }
        let isOne = path == first
        let made = ShellCommand("mkdir -m \(isOne ? mode : "0755") \(first)")?.run(as: keeper)
        // install gives the directories between the two mode 0755, whatever the umask is.
        let all = isOne ? made : made?.then(ShellCommand("install -d -m \(mode) \(path)")?.run(as: keeper))
        return keeper.id == owner.id ? all : all?.then(ShellCommand("chown \(owner.name) \(path)"))
    }

    /// The same below /run, at every boot. systemd-tmpfiles creates the missing directories above it as root's.
    package static func makeRuntimeDirectory(
        _ path: String, in parent: PathComponent, for owner: PathComponent.User
    ) -> ShellCommand? {
        guard CommandContext.current.hasSystemd, parent.keeper?.id == 0, parent.isKeptDirectory else { return nil }
        let file = "/etc/tmpfiles.d/clientsecretd-outputs.conf"
        return ShellCommand(
            #"printf 'd %s 0755 %s root\n' \#(plain: path) \#(plain: owner.name) >>\#(file) && systemd-tmpfiles --create \#(file)"#
        )
    }

    /// Removes a link, if it still is one.
    package static func removeLink(_ link: PathComponent) -> ShellCommand? {
        guard link.kind == .link, let keeper = link.keeper else { return nil }
        return keeper.id == 0
            ? ShellCommand("test -L \(link.path) && rm \(link.path)")
            : ShellCommand("find \(link.path) -maxdepth 0 -type l -delete")?.run(as: keeper)
    }

    /// Lets a unit write to `directory`, and restarts it where it runs. Nil where anything but its sandbox makes the
    /// directory read-only.
    package static func letWrite(
        _ unit: String = daemonUnit, to directory: String, readOnlyBy cause: ReadOnlyCause
    ) -> ShellCommand? {
        guard cause == .sandbox, CommandContext.current.hasSystemd else { return nil }
        return addSettings([UnitSetting.paths("ReadWritePaths", directory)], to: unit)
    }

    /// Adds settings to a service, and restarts it where it runs.
    ///
    /// - Parameter lines: quoted as a unit file needs it.
    package static func addSettings(_ lines: [String], to unit: String) -> ShellCommand? {
        let file = outputsFile(of: unit)
        return ShellCommand(
            #"install -d \#(file.directory) && printf '%s\n' \#(["[Service]"] + lines) >>\#(file.path) && systemctl daemon-reload && systemctl try-restart \#(unit)"#
        )
    }

    /// The drop-in of a service for what its outputs need.
    package static func outputsFile(of unit: String) -> (directory: String, path: String) {
        let directory = "/etc/systemd/system/\(unit).d"
        return (directory, directory + "/outputs.conf")
    }
}

extension PathComponent {
    /// Whether it is a directory in which a stranger can replace nothing that another user creates.
    fileprivate var isKeptDirectory: Bool {
        kind == .directory && (owner == keeper?.id || owner == 0) && (mode & 0o022 == 0 || mode & 0o1000 != 0)
    }

    /// Whether it is a file that no stranger placed or can replace.
    fileprivate var isKeptFile: Bool { kind == .file && keeper != nil && isTrusted }
}

// MARK: Files

extension ShellCommand {
    /// Takes the right to write a file from all but its owner.
    package static func removeWriting(from file: PathComponent) -> ShellCommand? {
        guard file.isKeptFile, let keeper = file.keeper, file.mode & 0o022 != 0 else { return nil }
        let classes = (file.mode & 0o020 != 0 ? "g" : "") + (file.mode & 0o002 != 0 ? "o" : "")
        return ShellCommand("chmod \(classes + "-w") \(file.path)")?.run(as: keeper)
    }

    /// Takes all rights in a key file from everybody but its owner and, where `group` may keep them, its group.
    package static func guardKey(_ key: PathComponent, group mayRead: Bool) -> ShellCommand? {
        guard key.isKeptFile, let keeper = key.keeper, !key.hasAccessList else { return nil }
        let mode = key.mode & (mayRead ? 0o040 : 0) | 0o600
        return ShellCommand("chmod \("0" + String(mode, radix: 8)) \(key.path)")?.run(as: keeper)
    }

    /// Lets only the service read a key that root owns, by the service's own group.
    package static func shareKey(_ key: PathComponent, withServiceGroup group: String) -> ShellCommand? {
        guard key.isKeptFile, key.keeper?.id == 0, key.owner == 0, !key.hasAccessList else { return nil }
        // The old group loses its rights before the new one gets any.
        return ShellCommand("chmod 0600 \(key.path) && chgrp \(group) \(key.path) && chmod 0640 \(key.path)")
    }

    /// Takes these readers out of a key's access list, each an entry of setfacl(1) such as `u:backup`.
    package static func removeReaders(_ entries: [String], from key: PathComponent) -> ShellCommand? {
        guard key.isKeptFile, let keeper = key.keeper, !entries.isEmpty else { return nil }
        return ShellCommand("setfacl -x \(entries.joined(separator: ",")) \(key.path)")?.run(as: keeper)
    }

    /// Writes a key file again, next to it and with its owner and mode. What was written replaces the file only if all went
    /// well, and the file's copy stays: it may be the only one. No file that is there is overwritten, and the key is in no command
    /// line.
    package static func rewriteKey(_ path: String, by filter: KeyFilter) -> ShellCommand? {
        let (copy, new) = (filter.copy(of: path), path + ".new")
        guard let filtered = filter.command(from: path, to: new), let undone = ShellCommand("{ rm \(new); false; }")
        else {
            return nil
        }
        return ShellCommand("test ! -e \(copy) && test ! -e \(new) && cp -p \(path) \(new)")?
            .then(ShellCommand(text: "{ \(filtered.text) || \(undone.text); }"))?
            .then(ShellCommand("cp -p \(path) \(copy) && mv \(new) \(path)"))
    }

    /// Lets everybody execute a program that everybody may read already.
    package static func makeExecutable(_ program: PathComponent) -> ShellCommand? {
        guard program.isKeptFile, let keeper = program.keeper, program.mode & 0o004 != 0 else { return nil }
        return ShellCommand("chmod a+x \(program.path)")?.run(as: keeper)
    }

    /// Takes the immutable or the append-only attribute from a file in root's directories.
    package static func removeMark(_ mark: String, from file: PathComponent) -> ShellCommand? {
        guard file.isKeptFile, file.keeper?.id == 0 else { return nil }
        return ShellCommand("chattr \("-" + mark) \(file.path)")
    }
}

/// How a damaged or foreign key file becomes PKCS#8 PEM.
package enum KeyFilter: Hashable, Sendable {
    /// A key without PEM around it.
    case fromDER
    /// An encrypted `EC PRIVATE KEY`.
    case fromEncryptedSEC1
    /// A key that is encrypted as OpenSSL 3 opens it only with its legacy provider.
    case fromOldEncryption
    /// A key that is encrypted with more iterations than are carried out.
    case fewerIterations
    /// The base64 of a whole PEM file.
    case fromBase64
    /// The base64 of that.
    case fromBase64Twice
    /// Text in which the base64 of a key can be found; with the words behind `BEGIN`.
    case fromLetters(label: String)

    /// Whether the command asks for the key's passphrase at the terminal.
    package var asksForPassphrase: Bool {
        switch self {
        case .fromEncryptedSEC1, .fromOldEncryption, .fewerIterations: true
        case .fromDER, .fromBase64, .fromBase64Twice, .fromLetters: false
        }
    }

    fileprivate func copy(of path: String) -> String {
        let suffix =
            switch self {
            case .fromDER: "der"
            case .fromEncryptedSEC1, .fromOldEncryption, .fewerIterations: "old"
            case .fromBase64, .fromBase64Twice: "base64"
            case .fromLetters: "damaged"
            }
        return "\(path).\(suffix)"
    }

    /// What is to be done after ``ShellCommand/rewriteKey(_:by:)``.
    package func cleanup(of path: String) -> String {
        "once the key works, remove \(copy(of: path)), which holds it too"
    }

    fileprivate func command(from old: String, to new: String) -> ShellCommand? {
        switch self {
        case .fromDER: return ShellCommand("openssl pkey -inform DER -in \(old) >\(new)")
        case .fromEncryptedSEC1: return ShellCommand("openssl pkcs8 -topk8 -v2 aes-256-cbc -in \(old) >\(new)")
        case .fromOldEncryption:
            return ShellCommand(
                "openssl pkcs8 -topk8 -v2 aes-256-cbc -provider default -provider legacy -in \(old) >\(new)")
        case .fewerIterations: return ShellCommand("openssl pkcs8 -topk8 -iter 600000 -in \(old) >\(new)")
        case .fromBase64, .fromBase64Twice:
            let (start, decodings) = self == .fromBase64 ? ("LS0tLS1", 1) : ("TFMwdExT", 2)
            // Padding may be missing.
            let decode = Array(
                repeating: #"awk '{ while (length($0) % 4) $0 = $0 "="; print }' | base64 -d"#, count: decodings)
            return ShellCommand(
                #"tr -cd \#("A-Za-z0-9+/=") <\#(old) | sed \#(#"s/^[^=]*=\(\#(start)\)/\1/"#) | \#(ShellCommand(text: decode.joined(separator: " | "))) >\#(new)"#
            )
        case .fromLetters(let label):
            let mark = label.filter { $0 != " " }
            // What remains of BEGIN, END and escaped line breaks goes, and a name with "=" in front of the key.
            let script =
                #"s/\\\\*[nr]//g; s/\\//g; s/END\#(mark).*//; s/.*BEGIN\#(mark)//; s/^[^=]*=\(M\)/\1/"#
            // Written in one word, BEGIN and its dashes would be treated as a key and cut away where this is shown.
            return ShellCommand(
                #"d=----- && { echo $d\#("BEGIN " + label)$d; tr -cd \#(#"A-Za-z0-9+/=\\"#) <\#(old) | sed \#(script) | fold -w 64; echo; echo $d\#("END " + label)$d; } >\#(new)"#
            )
        }
    }
}

// MARK: Units

extension ShellCommand {
    /// The daemon's unit.
    package static let daemonUnit = "clientsecretd.service"

    /// Has systemd listen for one of the package's services. Nil where the daemon looks for its socket elsewhere.
    package static func listen(_ socket: String) -> ShellCommand? {
        let context = CommandContext.current
        return context.hasSystemd && context.socket == nil ? ShellCommand("systemctl enable --now \(socket)") : nil
    }

    /// Has systemd open the daemon's status socket and pass it.
    package static var passStatusSocket: ShellCommand? {
        let context = CommandContext.current
        guard context.hasSystemd, context.socket == nil else { return nil }
        return ShellCommand(text: "systemctl unmask clientsecretd.socket && systemctl restart \(daemonUnit)")
    }

    /// Has systemd listen again at a socket that it has given up.
    package static func resetFailed(_ socket: String) -> ShellCommand? {
        unit("reset-failed", socket)?.then(start(socket))
    }

    /// Has systemd listen for one of the package's services after the next start too.
    package static func enable(_ socket: String) -> ShellCommand? { unit("enable", socket) }

    package static func restart(_ name: String = daemonUnit) -> ShellCommand? { unit("restart", name) }

    package static func start(_ name: String) -> ShellCommand? { unit("start", name) }

    package static func unmask(_ name: String) -> ShellCommand? { unit("unmask", name) }

    /// Has a running unit read its credentials and configuration again.
    package static func reloadUnit(_ name: String = daemonUnit) -> ShellCommand? { unit("reload", name) }

    private static func unit(_ verb: String, _ name: String) -> ShellCommand? {
        // A name that begins with "-" would be an option.
        CommandContext.current.hasSystemd && !name.hasPrefix("-") ? ShellCommand("systemctl \(verb) \(name)") : nil
    }
}

// MARK: Set up

extension ShellCommand {
    /// Enables a unit and starts it.
    package static func enableNow(_ name: String) -> ShellCommand? {
        name.hasPrefix("-") ? nil : ShellCommand("systemctl enable --now \(name)")
    }

    /// Has systemd read its units' files again.
    package static let readUnits = ShellCommand(text: "systemctl daemon-reload")

    /// Creates what a file of tmpfiles.d describes.
    package static func createRuntimeFiles(of file: String) -> ShellCommand? {
        ShellCommand("systemd-tmpfiles --create \(file)")
    }

    /// Adds a rule to a file of polkit's, which reads it at once.
    package static func addPolkitRule(_ rule: String, to file: String) -> ShellCommand? {
        ShellCommand(#"printf '%s\n' \#(rule) >>\#(file)"#)
    }

    /// Copies a key to where the service reads it: root's, and readable by the service's own group only. A file that is there
    /// is not replaced.
    package static func copyKey(_ key: String, to path: String, forServiceGroup group: String) -> ShellCommand? {
        ShellCommand("test ! -e \(path) && install -o root -g \(group) -m 0640 \(key) \(path)")
    }
}

// MARK: This program

extension ShellCommand {
    private static func words(_ flag: String, _ value: String?) -> [String] { value.map { [flag, $0] } ?? [] }

    /// A command to the daemon of this process.
    private static func asking(_ words: [String], of client: String? = nil) -> ShellCommand? {
        let socket = Self.words("--socket", CommandContext.current.socket)
        return ShellCommand("clientsecretd \(words + socket + [client].compactMap { $0 })")
    }

    /// - Parameter client: nil: all.
    package static func renew(_ client: String?) -> ShellCommand? { asking(["renew"], of: client) }

    /// Repeats what was not delivered.
    ///
    /// - Parameter client: nil: to all.
    package static func deliver(_ client: String?) -> ShellCommand? { asking(["renew", "--deliver-only"], of: client) }

    package static var reload: ShellCommand? { asking(["reload"]) }

    package static var status: ShellCommand? { asking(["status"]) }

    package static func resumeRollout(_ client: String) -> ShellCommand? { asking(["rollout", "resume"], of: client) }

    package static func showRollout(_ client: String) -> ShellCommand? { asking(["rollout", "show"], of: client) }

    /// A command about the configuration of this process.
    private static func reading(_ words: [String], before: [String] = []) -> ShellCommand? {
        let context = CommandContext.current
        let flags = Self.words("--config", context.configuration) + Self.words("--socket", context.socket)
        return ShellCommand("\(before + ["clientsecretd"] + words + flags)")
    }

    package static var check: ShellCommand? { reading(["check"]) }

    package static var runDaemon: ShellCommand? { reading(["run"]) }

    /// As root, for another user.
    package static func health(offline: Bool) -> ShellCommand? {
        reading(["health"] + (offline ? ["--offline"] : []), before: ["sudo"])
    }
}

// MARK: Commands that only show something

extension ShellCommand {
    package static func list(_ path: String) -> ShellCommand? { ShellCommand("ls -ld \(path)") }

    /// What each name on the way to `path` is, and whose.
    package static func listWay(to path: String) -> ShellCommand? { ShellCommand("namei -l \(path)") }

    package static func showAccessList(of path: String) -> ShellCommand? { ShellCommand("getfacl \(path)") }

    /// The free bytes and the free inodes: either may be used up.
    package static func showSpace(in directory: String) -> ShellCommand? {
        ShellCommand("df -h --output \(directory)")
    }

    package static func watch(_ directory: String) -> ShellCommand? { ShellCommand("inotifywait -m \(directory)") }

    /// Asks Apple about a client's published secret.
    package static func verify(_ client: String) -> ShellCommand? { reading(["verify", client]) }

    package static func inspect(_ file: String) -> ShellCommand? { ShellCommand("clientsecretd inspect \(file)") }

    package static func tryKey(_ file: String) -> ShellCommand? { ShellCommand("openssl pkey -in \(file) -noout") }

    package static func journal(of unit: String) -> ShellCommand? { ShellCommand("journalctl -u \(unit)") }

    package static func status(of unit: String) -> ShellCommand? { unitLook("status", unit) }

    package static func dependencies(of unit: String) -> ShellCommand? { unitLook("list-dependencies", unit) }

    package static func cat(_ unit: String) -> ShellCommand? { unitLook("cat", unit) }

    package static let listUnits = ShellCommand(text: "systemctl list-unit-files")
    /// Only ever raises it.
    package static let raiseInotifyLimits = ShellCommand(
        text: "for limit in max_user_instances max_user_watches; do "
            + "sysctl -w fs.inotify.$limit=$((2 * $(sysctl -n fs.inotify.$limit))); done")
    package static let kernelLog = ShellCommand(text: "dmesg")
    package static let clock = ShellCommand(text: "timedatectl")
    package static let reachApple = ShellCommand(text: "curl -sS -o /dev/null https://appleid.apple.com/auth/keys")
    package static let storeAlarms = ShellCommand(text: "etcdctl alarm list")
    package static let storeMembers = ShellCommand(text: "etcdctl endpoint status --cluster")

    private static func unitLook(_ verb: String, _ name: String) -> ShellCommand? {
        name.hasPrefix("-") ? nil : ShellCommand("systemctl \(verb) \(name)")
    }
}
