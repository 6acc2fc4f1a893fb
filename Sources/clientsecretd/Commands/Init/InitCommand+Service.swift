import Config
import Daemon
import Failures
import Glibc
import Linux
import Model
import StatusAPI
import Systemd

/// What the package's service needs in addition to the configuration.
extension InitCommand {
    /// What helps where the service is masked, so that no command starts it; nil where it is not.
    static var maskOfService: Remedy? { UnitMask.remedy(of: CommandContext.packagesUnit) }

    /// Starts the service, and has one that runs read what was written.
    static var start: [ShellCommand] {
        let isRunning = ServiceUnit.ofDaemon()?.isRunning == true
        let unit = CommandContext.packagesUnit
        return [.enableNow(unit), isRunning ? .reloadUnit(unit) : nil].compactMap(\.self)
    }

    /// Waits until the service has written the client's secret and notified its application. Throws if it does not answer.
    static func waitForDaemon(notifying client: ClientName) throws(ClientError) -> Snapshot {
        let service = StatusClient(socket: SocketOption.standard, serviceUser: ServiceUnit.daemonUser)
        return try service.settledStatus(of: [client])
    }

    /// Whether systemd runs a unit.
    static func isRunning(_ unit: String) -> Bool {
        do throws(UnitError) {
            var systemd = try SystemdClient(timeout: 10_000, cancel: nil)
            return try systemd.condition(of: unit).activity == "active"
        } catch {
            return false
        }
    }

    /// Has the service read the key from where it can.
    static func placeKey(of new: inout NewClient) throws(CommandFailure) -> [ShellCommand] {
        guard case .added(var key) = new.key, geteuid() == 0,
            let service = try? ServiceUnit.daemonAccount()
        else { return [] }
        let placement = try KeyPlacement(of: key.file, for: service)
        key.file = placement.file
        new.key = .added(key)
        return [placement.command].compactMap(\.self)
    }

    /// What the service on this machine needs.
    static func systemFiles(for new: NewClient) throws(CommandFailure) -> SystemFiles {
        var dropIns: [DropIn] = []
        if case .file(let file)? = new.destination {
            let directory = file.path.directory.description
            if let group = file.group, let status = FileStatus.following(directory) {
                let id = try? Accounts.groupID(group)
                guard status.isSetGroupID, status.group == id else {
                    throw CommandFailure(
                        .failed,
                        "new files in \(Printable.name(directory)) do not get \(Owner.words(groupNamed: group)); name a file in a directory "
                            + "created for it, such as /run/clientsecretd/\(new.name)/\(file.path.name)")
                }
            }
            dropIns = SandboxReview.dropIns(toWrite: file.path, writer: file.user)
        }
        return SystemFiles(
            for: new, dropIns: dropIns,
            rule: new.unit.flatMap { UnitPermission.rule(for: .unit(verb: new.verb, unit: $0)) },
            isMissing: { directory in
                // Not what a link that leads nowhere points to.
                guard let service = try? ServiceUnit.daemonAccount() else {
                    return FileStatus.isAbsent(directory.description)
                }
                return ShellCommand.making(directory.description, for: service.id) != nil
            }, mask: UnitMask.remedy(ofSocket:))
    }

    static func preview(of commands: [ShellCommand]) -> [String] {
        commands.isEmpty ? [] : ["These commands would be run:"] + commands.map { "    " + $0.text }
    }
}
