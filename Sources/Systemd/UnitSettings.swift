import AppleClientSecret
import Glibc
import Linux

/// A service's settings in effect, and the files that they come from. A unit's file and its settings in effect can differ. The
/// containers of LXC and Incus have a drop-in for all services that removes credentials and parts of the sandbox.
package struct UnitSettings: Hashable, Sendable {
    /// A property in systemd, if its type is used here.
    package enum Value: Hashable, Sendable {
        case flag(Bool)
        case text(String)
        case number(UInt64)
        /// A list of words.
        case list([String])
        /// Credentials, files and programs.
        case items([Item])
        /// An allow list or a deny list.
        case filter(isAllowList: Bool, [String])
    }

    package struct Item: Hashable, Sendable {
        /// A credential's name; a path if that is all.
        package var name: String
        /// The source of a credential, or the target of a bind mount.
        package var path: String?
        /// Whether the unit also starts without it.
        package var isOptional = false

        package init(name: String, path: String? = nil, isOptional: Bool = false) {
            self.name = name
            self.path = path
            self.isOptional = isOptional
        }
    }

    /// The unit's own file, or a drop-in.
    package struct File: Hashable, Sendable {
        package let path: String
        /// The assignments of its `[Service]` section, in order.
        let assignments: [UnitFileText.Assignment]

        package init(path: String, text: String) {
            self.path = path
            assignments = UnitFileText.assignments(in: text).filter { $0.section == "[Service]" }
        }
    }

    let values: [String: Value]
    /// The unit's own file first, then its drop-ins in the order in which they apply.
    let files: [File]
    /// Requirements of the next start that may be missing, as this process saw them when it asked: root sees more than the
    /// service's user.
    package let needs: [Need]

    package init(values: [String: Value], files: [File]) {
        self.values = values
        self.files = files
        needs = Self.needs(values)
    }

    /// The user that `User=` names, root if it names none; nil if it is not known, or systemd makes one at each start.
    package var user: String? {
        guard case .text(let user)? = values["User"], case .flag(false)? = values["DynamicUser"] else { return nil }
        return user.isEmpty ? "root" : user
    }

    /// `Group=`; nil if it names none: the user's own group.
    package var group: String? {
        let group = values["Group"].text
        return group.isEmpty ? nil : group
    }

    /// `SupplementaryGroups=`.
    package var supplementaryGroups: [String] { values["SupplementaryGroups"].words }

    /// The first directory of `StateDirectory=`, which systemd creates; nil if it names none.
    package var stateDirectory: String? { values["StateDirectory"].words.first.map { "/var/lib/" + $0 } }

    /// Whether the service runs as a user that systemd creates at each start, and in no other group. systemd gives that user's
    /// name as the group, too.
    package var hasOnlyOwnUser: Bool {
        values["DynamicUser"] == .flag(true) && supplementaryGroups.isEmpty
            && ["", values["User"].text].contains(values["Group"].text)
    }

    /// Whether systemd takes the name of the dynamic user, without which the service does not start: at most 31 letters,
    /// digits, `-` and `_` (systemd.exec(5)).
    package var hasUsableUser: Bool {
        guard case .text(let user)? = values["User"], case .flag(true)? = values["DynamicUser"] else { return true }
        let isAllowed = user.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
        return isAllowed && user.utf8.count <= 31
    }

    /// The users and groups that the account database does not have, and the settings that name them: systemd does not start the
    /// unit. Blocks.
    package var unknownAccounts: [(setting: String, name: String)] {
        let users = [user].compactMap(\.self).filter { Accounts.isUnknown(user: $0) }
        // systemd makes the group of a user that it makes.
        let own = values["DynamicUser"] == .flag(true) ? nil : group
        let groups =
            [own].compactMap(\.self).map { (setting: "Group", name: $0) }
            + supplementaryGroups.map { (setting: "SupplementaryGroups", name: $0) }
        return users.map { (setting: "User", name: $0) } + groups.filter { Accounts.isUnknown(group: $0.name) }
    }

    /// Why systemd did not come to execute the service's program at the last start, as far as it shows that; nil if it did.
    package var startFailure: String? {
        let result = values["Result"].text
        if ["resources", "start-limit-hit"].contains(result) { return result }
        // systemd's own statuses (systemd.exec(5)).
        guard result == "exit-code", case .number(let status)? = values["ExecMainStatus"], (200...243).contains(status)
        else { return nil }
        return "exit status \(status), see systemd.exec(5)"
    }

    // MARK: The addresses

    private static let loopback: Set<Substring> = [
        "any", "localhost", "0.0.0.0/0", "::/0", "127.0.0.0/8", "127.0.0.1", "127.0.0.1/32", "::1", "::1/128",
    ]

    /// The file that keeps the unit from this machine's own addresses, although a drop-in allows them; nil if none does.
    ///
    /// - Parameter allowing: the name of that drop-in, which may not be there yet.
    package func fileAgainstLoopback(despite allowing: String) -> String? {
        var isDenied = false
        var withdrawal: String?
        for file in files {
            let isLater = file.path != ownFile && RealPath.name(of: file.path) > allowing
            for assignment in file.assignments {
                let names = assignment.value.split(whereSeparator: \.isWhitespace)
                let isNamed = names.contains(where: Self.loopback.contains)
                switch assignment.name {
                case "IPAddressDeny": isDenied = isNamed || isDenied && !names.isEmpty
                case "IPAddressAllow" where isLater && names.isEmpty: withdrawal = file.path
                case "IPAddressAllow" where isNamed: withdrawal = nil
                default: break
                }
            }
        }
        return isDenied ? withdrawal : nil
    }

    // MARK: The command line

    /// The value of a flag of the service's command, as in `--endpoint VALUE` and `--endpoint=VALUE`; nil without one. It is read
    /// from the files, because systemd gives the command's arguments only after it has expanded them.
    package func value(ofFlag flag: String) -> String? {
        let command = files.flatMap(\.assignments).last { $0.name == "ExecStart" && !$0.value.isEmpty }?.value ?? ""
        let words = command.split(whereSeparator: \.isWhitespace).map { String($0.filter { $0 != "\"" && $0 != "'" }) }
        guard let index = words.firstIndex(where: { $0 == flag || $0.hasPrefix(flag + "=") }) else { return nil }
        if words[index] != flag { return String(words[index].dropFirst(flag.count + 1)) }
        return index + 1 < words.count ? words[index + 1] : nil
    }

    // MARK: The environment

    /// The files of `EnvironmentFile=` in the order in which they are read; those that may be missing as well, and with
    /// their wildcards.
    package var environmentFiles: [String] { values["EnvironmentFiles"].words }
    /// The same, each with whether it may be missing.
    package var environmentFileItems: [Item] { values["EnvironmentFiles"].items }

    /// Whether `EnvironmentFile=` with this path, in which wildcards may be (glob(7)), names a file.
    package static func environmentFile(_ pattern: String, names path: String) -> Bool {
        unsafe fnmatch(pattern, path, FNM_PATHNAME) == 0 || RealPath.of(pattern) == RealPath.of(path)
    }

    /// Whether one of ``environmentFiles`` names this file.
    package func reads(environmentFile path: String) -> Bool {
        environmentFiles.contains { Self.environmentFile($0, names: path) }
    }

    /// The files that systemd reads for the service when it starts, and the settings that name them. Those of `EnvironmentFile=`
    /// with their wildcards.
    package var filesReadAtStart: [(setting: String, path: String)] {
        let credentials = values["LoadCredential"].items.compactMap(\.path).filter { $0.hasPrefix("/") }
        return environmentFiles.map { (setting: "EnvironmentFile", path: $0) }
            + credentials.map { (setting: "LoadCredential", path: $0) }
    }

    /// Whether commands run before the service itself, which may be other users' or have more rights.
    package var runsCommandsFirst: Bool { !values["ExecStartPre"].items.isEmpty }

    /// Environment files that a file of the unit names and that a later one removes: it clears the list.
    package var removedEnvironmentFiles: [(path: String, file: String)] {
        cleared(["EnvironmentFile"]) { $0.drop { $0 == "-" } }.map { ($0.name, $0.file) }
            .filter { !environmentFiles.contains($0.path) }
    }

    /// A setting's assignments in a unit's file that a later one removes: an empty value clears the setting.
    ///
    /// - Parameter name: the name in a value. A later assignment replaces one of the same name. By any of the settings, it gives
    ///   what was removed again: systemd passes a credential that is only set, too.
    func cleared(
        _ settings: [String], _ name: (String) -> Substring
    ) -> [(setting: String, name: String, value: String, file: String)] {
        var named: [(setting: String, name: String, value: String)] = []
        var removed: [(setting: String, name: String, value: String, file: String)] = []
        for file in files {
            for assignment in file.assignments where settings.contains(assignment.name) {
                if assignment.value.isEmpty {
                    removed += named.filter { $0.setting == assignment.name }.map { ($0, $1, $2, file.path) }
                    named.removeAll { $0.setting == assignment.name }
                } else {
                    let name = String(name(assignment.value))
                    named.removeAll { $0.setting == assignment.name && $0.name == name }
                    named.append((assignment.name, name, assignment.value))
                    removed.removeAll { $0.name == name }
                }
            }
        }
        return removed
    }

    /// `NAME=value` of `Environment=`; every environment file takes precedence.
    package var environment: [String] { values["Environment"].words }

    /// The directory in which the processes start; nil for the root directory and for one that depends on the user.
    package var workingDirectory: String? {
        guard case .text(let path)? = values["WorkingDirectory"] else { return nil }
        let directory = path.drop { $0 == "!" || $0 == "-" }
        return directory.hasPrefix("/") ? String(directory) : nil
    }

    /// The process ID of the main process, and when it was started in microseconds since 1970; nil for none.
    package var mainProcess: (id: Int32, startedAt: Int64)? {
        guard case .number(let id)? = values["MainPID"], id > 0,
            case .number(let time)? = values["ExecMainStartTimestamp"]
        else { return nil }
        return (Int32(clamping: id), Int64(clamping: time))
    }

    /// The file and line of the last assignment of a setting whose value contains `text`. Nil if that is not known, as for a
    /// value with specifiers.
    package func place(of setting: String, containing text: String) -> (file: String, line: Int)? {
        place(of: setting) { $0.contains(text) }
    }

    /// The file and line of the last assignment of a setting with such a value.
    package func place(of setting: String, where isWanted: (_ value: String) -> Bool) -> (file: String, line: Int)? {
        for file in files.reversed() {
            if let found = file.assignments.last(where: { $0.name == setting && isWanted($0.value) }) {
                return (file.path, found.line)
            }
        }
        return nil
    }

    /// The last line of a drop-in that limits which addresses the unit reaches; nil if none does. A drop-in that only allows
    /// more addresses limits nothing.
    package var addressLimit: (setting: String, file: String, line: Int)? {
        for file in files.dropFirst().reversed() {
            let isLimiting = file.assignments.contains {
                $0.name == "IPAddressDeny" && $0.value != "" || $0.name == "IPAddressAllow" && $0.value == ""
            }
            guard isLimiting else { continue }
            let found = file.assignments.last {
                ["IPAddressAllow", "IPAddressDeny"].contains($0.name) && $0.value != ""
            }
            if let found { return (found.name, file.path, found.line) }
        }
        return nil
    }

    /// The unit's own file; nil if it cannot be read.
    package var ownFile: String? { files.first?.path }

    /// The unit's own file and its drop-ins, as far as they can be read.
    package var paths: [String] { files.map(\.path) }

    /// The parts of the file system that the settings let the service's processes reach; nil if that is not known.
    ///
    /// - Parameter followsLinks: whether links in the settings' paths are followed, which blocks on their file systems.
    package func sandbox(followsLinks: Bool = true) -> UnitSandbox? { UnitSandbox(values, followsLinks: followsLinks) }
}

extension UnitSettings.Value? {
    var text: String { if case .text(let text)? = self { text } else { "" } }

    var isTrue: Bool { self == .flag(true) }

    var number: UInt64 { if case .number(let number)? = self { number } else { 0 } }

    var items: [UnitSettings.Item] { if case .items(let items)? = self { items } else { [] } }

    /// The words of a list; of credentials, files and programs their names.
    var words: [String] { if case .list(let words)? = self { words } else { items.map(\.name) } }
}
