import Daemon
import Failures
import Model
import Systemd

/// The files and commands that the machine needs in addition to the configuration. With them the service can write the secret and
/// its reader finds it. Nothing here touches the machine.
///
/// The rules:
/// - A file that exists keeps its content, and gets the missing lines at its end. Lines are removed only if an earlier `init`
///   wrote them for a unit and the configuration gives the unit nothing by them now. With them it could not start.
/// - Lines about the sandbox and about polkit are those that `check` names (``SandboxReview``, ``PolkitRule``).
/// - A missing directory is created by the command that `check` would name; an existing one is not changed.
struct SystemFiles: Equatable {
    /// A file, and the lines that have to be in it.
    struct File: Equatable {
        var path: String
        var lines: String
        /// Whether it is never shown and only its owner may read it.
        var isSecret = false
        /// Of a unit that reads a secret, the lines by which the configuration gives it one; nil for another file.
        var given: Set<String>?

        /// The whole text; nil if the file holds the lines already.
        func text(after old: String?) -> String? {
            guard let old, !old.isEmpty else { return lines }
            let kept = split(old).kept
            if ("\n" + kept).contains("\n" + lines) { return kept == old ? nil : kept }
            return kept + (kept.isEmpty || kept.hasSuffix("\n") ? "" : "\n") + lines
        }

        /// The lines of a unit that an earlier `init` wrote and that give it nothing now.
        func former(in old: String) -> [String] { split(old).former }

        /// Only lines exactly as `init` writes them count, because a person may have added lines to the section.
        private func split(_ old: String) -> (kept: String, former: [String]) {
            guard let given else { return (old, []) }
            var kept = ""
            var former: [String] = []
            var rest = old[...]
            while let range = rest.firstRange(of: SystemFiles.order + "\n[Service]\n") {
                let line = rest[range.upperBound...].prefix { $0 != "\n" }
                let end = rest.index(line.endIndex, offsetBy: 1, limitedBy: rest.endIndex) ?? rest.endIndex
                let begins = (kept + rest[..<range.lowerBound]).last.map { $0 == "\n" } ?? true
                let isOnly = rest[end...].first.map { $0 == "[" } ?? true
                let isReader = ["EnvironmentFile=", "LoadCredential="].contains { line.hasPrefix($0) }
                let isKept = !begins || !isOnly || !isReader || given.contains(String(line))
                kept += rest[..<(isKept ? end : range.lowerBound)]
                if !isKept { former.append(String(line)) }
                rest = rest[end...]
            }
            return (kept + rest, former)
        }
    }

    var files: [File] = []
    /// The commands that have them take effect.
    var commands: [ShellCommand] = []
    /// Units that are needed and masked, with the remedy: the command that starts them would fail.
    var masked: [Remedy] = []

    /// Nothing: for a configuration that is not the service's.
    init() {}

    /// - Parameters:
    ///   - dropIns: the lines that the writer's sandbox lacks.
    ///   - rule: the polkit rule that lets the daemon restart the unit.
    ///   - given: the lines by which the configuration that is there gives the unit other secrets.
    ///   - make: the command that creates the directory of the service's own output; nil if none is needed.
    ///   - mask: the remedy if a socket, or its service, is masked.
    init(
        for new: NewConfigurationFile, dropIns: [UnitDropIn], rule: String?, given: Set<String> = [],
        make: ShellCommand?,
        mask: (String) -> Remedy?
    ) {
        for dropIn in dropIns { files.append(File(path: dropIn.file, lines: dropIn.text)) }
        if let unit = new.unit, new.verb != .start, let lines = Self.lines(ofReader: new.destination) {
            let own = Self.line(ofReader: new.destination)
            files.append(
                File(
                    path: "/etc/systemd/system/\(unit).d/\(SecretReader.dropInName)", lines: lines,
                    given: given.union([own].compactMap(\.self))))
        }
        if let target = new.target, let credential = target.credential {
            files.append(
                File(
                    path: "/etc/systemd/system/\(PackageUnit.pusher(of: target.name)).d/clientsecretd.conf",
                    lines: "[Service]\n\(credential)\n"))
        }
        // systemd opens directories when it starts a unit, and skips one that is missing.
        if case .file(let file)? = new.destination, file.user == nil { commands += [make].compactMap(\.self) }
        if !files.isEmpty { commands.append(.readUnits) }
        commands += dropIns.filter(\.isRunning).compactMap { .restart($0.unit) }
        if let rule { files.append(File(path: PolkitRule.file, lines: rule + "\n")) }
        if let target = new.target { listen(PackageUnit.pusherSocket(of: target.name), mask) }
        // The service starts this one, unless it is masked.
        if case .credential? = new.destination { masked += [mask(PackageUnit.credentialSocket)].compactMap(\.self) }
        if case .file(let file)? = new.destination, let user = file.user {
            listen(PackageUnit.writerSocket(of: user), mask)
        }
    }

    private mutating func listen(_ socket: String, _ mask: (String) -> Remedy?) {
        if let remedy = mask(socket) {
            masked.append(remedy)
        } else {
            commands += [.enableNow(socket)].compactMap(\.self)
        }
    }

    private static let order = "[Unit]\nWants=\(PackageUnit.daemon)\nAfter=\(PackageUnit.daemon)\n"

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
