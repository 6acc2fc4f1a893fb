import AppleClientSecret
import Failures
import Linux
import Model
import Systemd

/// What processes that run now read instead of an output.
extension HiddenOutput {
    /// Mounts of the output's file on its own: a renewal replaces the file, and the mount keeps the old one.
    static func mounts(of output: OutputFacts, in namespace: NamespaceFacts) -> [HiddenOutput] {
        guard let place = output.place else { return [] }
        func hidden(_ what: String, _ mount: MountTable.Mount) -> HiddenOutput {
            let process = namespace.command.map { " for process \(namespace.process) (\(Printable.foreign($0)))" } ?? ""
            return HiddenOutput(
                file: "/proc/\(namespace.process)/mountinfo", line: mount.line,
                words: "\(what) is mounted on its own at \(Printable.name(mount.point))\(process), "
                    + (mount.isReplaced
                        ? "and still shows the content from before it was replaced"
                        : "and will keep the old content after a renewal"),
                remedy: .say("mount the directory instead"))
        }
        let directory = Printable.name(RealPath.directory(of: output.realPath))
        return namespace.mounts.ofFile(place).map { hidden(Printable.name(output.path), $0) }
            + namespace.mounts.ofReplacedFiles(beside: place).map { hidden("an output in \(directory)", $0) }
    }

    /// The unit's main process has another file at the output's path.
    static func otherFile(at output: OutputFacts, in unit: UnitFacts) -> HiddenOutput? {
        guard let process = unit.process, process.otherFiles.contains(output.path) else { return nil }
        return HiddenOutput(
            file: output.path, line: nil,
            words: "the main process of \(unit.name) (\(process.id)) sees another file at this path, because its mount "
                + "namespace has something mounted there",
            remedy: .say("mount the output's directory into it, or restart \(unit.name)"))
    }

    /// The unit reads the output when it starts, and its main process is older than the output's content.
    static func staleProcess(of unit: UnitFacts, _ output: OutputFacts) -> HiddenOutput? {
        guard let variable = output.variable, let process = unit.process, let written = output.modified,
            let reading = unit.environmentFiles.last(where: { output.copies.contains($0.realPath) }),
            reading.realPath == output.realPath, process.startedAt < written
        else { return nil }
        let place = unit.settings.place(of: "EnvironmentFile", containing: reading.pattern)
        func found(_ what: String, _ remedy: String, isKnown: Bool) -> HiddenOutput {
            HiddenOutput(
                file: place?.file ?? output.path, line: place?.line,
                words:
                    "\(unit.name) was started at \(moment(process.startedAt)) and \(Printable.name(output.path)) was written "
                    + "at \(moment(written)), so the application \(what)",
                remedy: .say(remedy), unit: unit.name, isKnown: isKnown)
        }
        // Another variable of the file may have changed.
        let secret = output.token.map { Array("\(variable)=".utf8) + $0 }
        if let environment = process.environment, output.file != nil {
            if let secret, environment.contains(secret) { return nil }
            return found("does not have the current secret", "restart \(unit.name)", isKnown: true)
        }
        let unread = process.environment == nil ? "the environment of process \(process.id)" : "the file"
        return found(
            "may not have the current secret: \(unread) cannot be read",
            "run this command as root to know it, or restart \(unit.name)", isKnown: false)
    }

    private static func moment(_ microseconds: Int64) -> WallTime {
        WallTime(secondsSinceEpoch: microseconds / 1_000_000)
    }
}
