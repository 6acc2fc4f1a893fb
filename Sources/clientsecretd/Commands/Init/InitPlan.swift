import ArgumentParser
import Config
import Daemon
import Failures
import Glibc
import Linux
import Model
import Outputs
import StatusAPI
import Systemd

/// The files of `init`, and its commands.
struct InitPlan {
    private let place: InitPlace
    private let new: NewConfigurationFile
    private let additions: FileAdditions
    private let commands: [ShellCommand]
    /// The remedy if the service is masked, so that no command starts it; nil if it is not.
    private let mask: Remedy?
    /// Whether the service is started.
    private let isStarted: Bool
    /// The key's file that is copied; nil if the service reads it in its place.
    private let copiedKey: AbsolutePath?

    /// Throws if the configuration would not be accepted, or the client could not be served.
    ///
    /// - Parameters:
    ///   - token: the file of a token that was typed.
    ///   - now: whether the service is started.
    init(for given: NewConfigurationFile, token: RequiredLines?, at place: InitPlace, now: Bool) throws {
        var new = given
        var others = SystemFiles()
        if case .file(let file)? = new.destination { try Self.checkIsWritable(file, isOfService: place.isService) }
        if place.isService {
            let key = try Self.placeKey(of: &new)
            others = try Self.systemFiles(for: new)
            others.commands = key + others.commands
        }
        let main = try place.existing?.mainFile(with: new.target)
        // An error, such as an output that is the key, is reported before anything is written. The configuration comes last: until
        // it is there, all of this can be done again.
        let file = try place.file(for: new, main)
        additions = try FileAdditions(others.files + [token, main, file].compactMap(\.self))
        mask = place.isService ? UnitMask.remedy(of: PackageUnit.daemon) : nil
        isStarted = now && mask == nil
        commands = others.commands + (isStarted ? Self.start : [])
        copiedKey = new.keyFile == given.keyFile ? nil : given.keyFile
        self.place = place
        self.new = new
    }

    /// The text that is shown before anything is written.
    var preview: [String] {
        additions.preview
            + (commands.isEmpty ? [] : ["These commands would be run:"] + commands.map { "    " + $0.text })
    }

    /// Writes and runs it, and prints the outcome and the remaining steps.
    ///
    /// - Parameters:
    ///   - change: the step for the person, so that the application reads the new secret; nil if none.
    ///   - socket: the daemon's.
    /// - Throws: also if `check` finds something missing, or the client is not served.
    func carryOut(change: String?, socket: String) throws {
        try additions.write()
        var unexplained: [String] = []
        for command in commands {
            guard let failure = PrintedCommandRunner.failure(of: command.text) else { continue }
            if command == .reloadUnit(PackageUnit.daemon) {
                unexplained.append(failure)
            } else {
                CommandOutput.complain(lines: failure)
            }
        }
        // Before the daemon has restarted the unit, 'check' would warn that it has the old secret.
        let outcome = (isStarted ? settledSnapshot : nil).flatMap {
            InitOutcome(of: new, in: $0, isComplete: change == nil, isRunning: Self.isRunning)
        }
        if outcome == nil {
            unexplained.forEach(CommandOutput.complain(lines:))
            if isStarted {
                CommandOutput.complain("the service does not answer, or has not loaded client \"\(new.name)\"")
            }
        }
        let hint =
            place.isService || !SystemManager.isSystemd
            ? "" : " The service does not read this file; it reads \(ServiceUser.configuration)."
        try CommandOutput.answer("Wrote \(additions.written.joined(separator: ", ")).\(hint)")
        if let outcome { try CommandOutput.answer(outcome.lines.joined(separator: "\n")) }
        var steps = NextSteps(
            mask: mask, start: isStarted ? nil : NextSteps.start(place.path, isAdded: place.existing != nil),
            change: change, copiedKey: copiedKey)
        // The verdict comes before the remaining steps, and gives up root's rights.
        let heading = "Something is missing." + (ShellCommand.check.map { " \($0.text) shows:" } ?? "")
        let check = try CheckCommand.parse(["--config", place.path, "--socket", socket])
        let isServed = !isStarted || outcome?.isServed == true
        var verdict = Result { try check.run(after: heading, isLast: change == nil && isServed) }
        // The remaining steps point at the message, which would else come last.
        if case .failure(let failure as CommandFailure) = verdict, !failure.message.isEmpty {
            CommandOutput.complain(failure.message)
            verdict = .failure(CommandFailure(failure.code, ""))
        }
        steps.isComplete = isServed && (try? verdict.get()) != nil
        try CommandOutput.answer(lines: steps.lines)
        try verdict.get()
        // The failure was printed above.
        if !isServed { throw CommandFailure(.failed, "") }
    }

    // MARK: The service

    /// Starts the service, and has a running one read the new files.
    private static var start: [ShellCommand] {
        // A reload after a start is harmless, and one that is left out is not.
        let isRunning = ServiceUnit.ofDaemon()?.isRunning != false
        let unit = PackageUnit.daemon
        return [.enableNow(unit), isRunning ? .reloadUnit(unit) : nil].compactMap(\.self)
    }

    /// The service's view once it has written the client's secret and notified its application; nil if it does not answer.
    private var settledSnapshot: Snapshot? {
        try? StatusClient(socket: SocketOption.standard, serviceUser: ServiceUnit.daemonUser)
            .settledStatus(of: [new.name])
    }

    /// Whether systemd runs a unit.
    private static func isRunning(_ unit: String) -> Bool {
        let activity = SystemdClient.ask { systemd throws(UnitError) in try systemd.state(of: unit).activity }
        return activity == "active"
    }

    /// Has the service read the key from a place that it can read.
    private static func placeKey(of new: inout NewConfigurationFile) throws(CommandFailure) -> [ShellCommand] {
        let account = try CommandFailure.explaining { () throws(SystemError) in try ServiceUnit.daemonAccount() }
        guard case .added(var key) = new.key, geteuid() == 0, let service = account else { return [] }
        let placement = try KeyPlacement(of: key.file, for: service)
        key.file = placement.file
        new.key = .added(key)
        return [placement.command].compactMap(\.self)
    }

    /// The files that the service on this machine needs.
    private static func systemFiles(for new: NewConfigurationFile) throws(CommandFailure) -> SystemFiles {
        var dropIns: [UnitDropIn] = []
        var make: ShellCommand?
        if case .file(let file)? = new.destination {
            let service = try? ServiceUnit.daemonAccount()
            let home = service.flatMap { FileHome.directory(of: file.path, forUser: $0.id) }
            let directory = (home ?? file.path.directory).description
            if let service, file.user == nil {
                make = try? ShellCommand.making(
                    file.path.directory.description, for: service.id, mode: file.group == nil ? "0755" : "2750",
                    group: file.group)
            }
            // Groups are for the service's own files, which get that of their directory.
            if let group = file.group, make == nil {
                let id = try? Accounts.groupID(group)
                guard let status = FileStatus.following(directory), status.isSetGroupID, status.group == id else {
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
            rule: new.unit.flatMap { ServiceUnit.polkitRule(for: .unit(verb: new.verb, unit: $0)) }, make: make)
    }

    /// Throws if the user that will write a file may not write to its directory: the daemon would fail, with everything written.
    private static func checkIsWritable(
        _ file: NewConfigurationFile.OutputFile, isOfService: Bool
    ) throws(CommandFailure) {
        let user = file.user ?? (isOfService ? ServiceUnit.daemonUser : nil)
        guard geteuid() == 0, let user, let account = try? Accounts.user(called: user),
            account.id != 0
        else { return }
        let home = FileHome.directory(of: file.path, forUser: account.id) ?? file.path.directory
        let directory = home.description
        guard let status = FileStatus.following(directory) else { return }
        let mayWrite = try? ThreadUser.perform(as: account) {
            unsafe faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0 || errno != EACCES
        }
        guard mayWrite == false else { return }
        let owner = (try? Accounts.user(id: status.owner))?.name
        // A writer that runs as the file's owner may write it.
        let writer = (FileStatus.following(file.path.description) ?? status).owner
        let name = writer == 0 ? nil : (try? Accounts.user(id: writer))?.name
        let advice = file.user == nil ? name.map { "Add --as \(ShellWord.quoted($0)), or use" } ?? "Use" : "Use"
        throw CommandFailure(
            .failed,
            "\(Owner.words(userNamed: user)) cannot write to \(Printable.name(directory)) (owner: \(owner ?? String(status.owner))). "
                + "\(advice) --output with another directory; nothing was written.")
    }
}
