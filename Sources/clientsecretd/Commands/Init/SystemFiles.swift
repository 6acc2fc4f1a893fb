import Daemon
import Failures
import Model
import Systemd

/// The files and commands that the machine needs in addition to the configuration. With them the service can write the secret and
/// its reader finds it. Nothing here touches the machine.
///
/// The rules:
/// - A file that exists keeps its content, and gets the missing lines at its end. `check` names a line for a unit that gives it
///   nothing now.
/// - Lines about the sandbox and about polkit are those that `check` names (``SandboxReview``, ``PolkitRule``).
/// - A missing directory is created by the command that `check` would name; an existing one is not changed.
struct SystemFiles: Equatable {
    var files: [RequiredLines] = []
    /// The commands that have them take effect.
    var commands: [ShellCommand] = []

    /// Nothing: for a configuration that is not the service's.
    init() {}

    /// - Parameters:
    ///   - dropIns: the lines that the writer's sandbox lacks.
    ///   - rule: the polkit rule that lets the daemon restart the unit.
    ///   - make: the command that creates the directory of the service's own output; nil if none is needed.
    init(
        for new: NewConfigurationFile, dropIns: [UnitDropIn], rule: String?, make: ShellCommand?
    ) {
        for dropIn in dropIns { files.append(RequiredLines(path: dropIn.file, lines: dropIn.text)) }
        if let unit = new.unit, new.verb != .start, let lines = Self.lines(ofReader: new.destination) {
            files.append(
                RequiredLines(path: "/etc/systemd/system/\(unit).d/\(SecretReader.dropInName)", lines: lines))
        }
        if let target = new.target, let credential = target.credential {
            files.append(
                RequiredLines(
                    path: "/etc/systemd/system/\(PackageUnit.pusher(of: target.name)).d/clientsecretd.conf",
                    lines: "[Service]\n\(credential)\n"))
        }
        // systemd opens directories when it starts a unit, and skips one that is missing.
        if case .file(let file)? = new.destination, file.user == nil { commands += [make].compactMap(\.self) }
        if !files.isEmpty { commands.append(.readUnits) }
        commands += dropIns.filter(\.isRunning).compactMap { .restart($0.unit) }
        if let rule { files.append(RequiredLines(path: PolkitRule.file, lines: rule + "\n")) }
        // The socket for credentials is the service's.
        var sockets: [String] = []
        if let target = new.target { sockets.append(PackageUnit.pusherSocket(of: target.name)) }
        if case .file(let file)? = new.destination, let user = file.user {
            sockets.append(PackageUnit.writerSocket(of: user))
        }
        commands += sockets.compactMap { .enableNow($0) }
    }

    /// The beginning of a drop-in that `init` writes for the unit of a reader.
    static let order = "[Unit]\nWants=\(PackageUnit.daemon)\nAfter=\(PackageUnit.daemon)\n"

    /// The drop-in of the unit that reads the secret. Nil for a file of its user's, which the program reads as before.
    private static func lines(ofReader destination: NewConfigurationFile.Destination?) -> String? {
        if let line = line(ofReader: destination) { return order + "\n[Service]\n\(line)\n" }
        guard case .file(let file)? = destination, file.user == nil else { return nil }
        return order
    }

    /// The line by which the unit gets the secret; nil for a file that the program reads by itself.
    private static func line(ofReader destination: NewConfigurationFile.Destination?) -> String? {
        switch destination {
        case nil: return nil
        case .credential(let name): return UnitFileLine.loadCredential(name)
        case .file(let file):
            guard file.user == nil, file.variable != nil else { return nil }
            return UnitFileLine.environmentFile(file.path.description)
        }
    }
}
