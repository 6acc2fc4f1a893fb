import Actions
import Failures
import Linux
package import Model
import Outputs
import Systemd

/// Which of a configuration's paths the units of the daemon and its writers may use, and which lines their drop-ins
/// lack.
package struct SandboxReview: Sendable {
    private let service: ServiceUnit
    private var writers: [String: ServiceUnit?] = [:]
    private var lines: [String: Set<String>] = [:]
    /// What this process sees. Read once: there may be thousands of mounts, and as many files.
    private lazy var ownMounts = MountTable.ofThisProcess()

    init(_ service: ServiceUnit) {
        self.service = service
    }

    /// The lines missing from the unit that writes `path`, also to keep the group of a file that root owns. None if systemd cannot be asked.
    /// Blocks.
    ///
    /// - Parameter user: whose writer writes it; nil: the daemon itself.
    package static func dropIns(toWrite path: AbsolutePath, writer user: String?) -> [UnitDropIn] {
        guard let service = ServiceUnit.ofDaemon() else { return [] }
        var review = SandboxReview(service)
        _ = review.problems(with: path, writer: user, met: nil)
        // systemd gives root no groups of the account database.
        if user == "root", let status = FileStatus.following(path.description), status.owner == 0, status.group != 0,
            let group = try? Accounts.group(id: status.group), let unit = review.unit(of: user)
        {
            review.lines[unit.name, default: []].insert(UnitFileLine.supplementaryGroup(group.name))
        }
        return review.dropIns
    }

    /// Whether the sandbox of the unit that runs the daemon hides a file from it; false if systemd cannot be asked. Blocks.
    package static func hides(_ path: AbsolutePath) -> Bool {
        ServiceUnit.ofDaemon().map { SandboxReview($0).setting(hiding: path) != nil } ?? false
    }

    /// The lines that are missing, by unit.
    var dropIns: [UnitDropIn] {
        let units = [service] + writers.values.compactMap(\.self)
        return units.compactMap { unit in
            lines[unit.name].map { UnitDropIn(unit: unit.name, lines: $0.sorted(), isRunning: unit.isRunning) }
        }.sorted { $0.unit < $1.unit }
    }

    /// All problems that would keep a file from being written.
    ///
    /// - Parameters:
    ///   - user: the user whose writer writes it; nil: the daemon itself.
    ///   - failure: the result of a check of the file, from inside the writer's sandbox but from outside the daemon's.
    mutating func problems(with path: AbsolutePath, writer user: String?, met failure: Failure?) -> [Failure] {
        // A link that may not be followed is reported as such.
        let home = id(of: user).map { FileHome.directory(of: path, forUser: $0) } ?? path.directory
        guard let home else { return [failure].compactMap(\.self) }
        return problems(in: home, path, unit(of: user), writer: user, failure)
    }

    /// All that would keep the state directory from being used.
    mutating func problems(withState path: AbsolutePath, met failure: Failure?) -> [Failure] {
        if service.sandbox.makes(path.description) {
            if makes(path) { return [] }
            let closed = closed(path, path, failure, to: service, isInside: false)
            return [failure, closed].compactMap(\.self)
        }
        return problems(in: path, path, service, writer: nil, failure)
    }

    /// That other programs do not see the daemon's files in `directory`, as the daemon itself can tell from inside its sandbox.
    ///
    /// - Parameter path: the file or directory that it is about.
    func hiding(_ path: AbsolutePath, in directory: AbsolutePath) -> Failure? {
        guard !service.sandbox.makes(directory.description),
            case .hidden(let setting) = service.sandbox.view(of: directory.description)
        else { return nil }
        // Only a program outside can see other files there.
        let isEmpty = setting.hasPrefix("PrivateTmp=")
        return Self.unseen(
            path, in: directory, service, setting,
            isEmpty ? Self.elsewhere(path, in: directory, service, setting) : .say("see what helps", see: .check))
    }

    private static func unseen(
        _ path: AbsolutePath, in directory: AbsolutePath, _ unit: ServiceUnit, _ setting: String, _ remedy: Remedy
    ) -> Failure {
        Failure(
            .outsideSandbox, at: .path(path),
            detail: "other programs do not see what \(unit.name) writes to \(directory) (\(setting))", remedy: remedy)
    }

    private static func elsewhere(
        _ path: AbsolutePath, in directory: AbsolutePath, _ unit: ServiceUnit, _ setting: String
    ) -> Remedy {
        // The content of the state directory has to outlive a reboot.
        if directory == path { return .say("leave \"state_dir\" out, or write another path") }
        var obstacle: String?
        if case .hidden(let other) = unit.sandbox.view(of: OutputRemedy.ownDirectory) { obstacle = other }
        return UnitInEffect(name: unit.name, settings: unit.settings).remedy(
            forHiddenBy: setting, "write another path, such as \(OutputRemedy.ownDirectory)/\(path.name)",
            unless: obstacle)
    }

    /// Whether the state directory is missing and systemd creates it when the service starts. If the service runs, it has lost it.
    func makes(_ path: AbsolutePath) -> Bool {
        !service.isRunning && service.sandbox.makes(path.description)
            && FileStatus.following(path.description) == nil
    }

    /// Why the daemon does not see a key or its passphrase.
    func problems(with key: KeyConfiguration, as identity: Identity) -> [Failure] {
        let group = (try? Accounts.group(id: identity.group))?.name ?? String(identity.group)
        return [("file", key.location), ("passphrase_file", key.passphrase)].compactMap { setting, location in
            guard case .file(let path)? = location else { return nil }
            let place = "/etc/clientsecretd"
            return problem(
                reading: path, at: .path(path), movedTo: "\(place)/\(path.name)",
                "put it below \(place), root's and readable by \(Owner.words(groupNamed: group)) only, and write "
                    + "\"\(setting): \(place)/\(path.name)\"")
        }
    }

    /// Why the daemon does not see the file from which a client receives its secrets.
    func problem(withSource path: AbsolutePath) -> Failure? {
        problem(
            reading: path, .sourceUnreadable, at: .path(path), movedTo: "/srv/\(path.name)",
            "have it copied to another directory, such as one below /srv, and name that file in \"from\"")
    }

    /// Why the daemon does not see its configuration.
    func problem(withConfiguration path: AbsolutePath) -> Failure? {
        let place = "/etc/clientsecretd/\(path.name)"
        return problem(
            reading: path, at: .path(path), movedTo: place,
            "put it at \(Printable.name(place)), and name that file in the unit")
    }

    /// Why the daemon does not see an action's program or the interpreter of a script, or may not execute it.
    func problem(with action: Action) -> Failure? {
        for program in ExecAction.programs(of: action) {
            guard let path = AbsolutePath(program) else { continue }
            if let failure = problem(running: path, of: action) { return failure }
        }
        return nil
    }

    private func problem(running path: AbsolutePath, of action: Action) -> Failure? {
        let place = "/usr/local/bin/\(path.name)"
        if let failure = problem(
            reading: path, at: .action(action.id), movedTo: place,
            "put it below /usr/local/bin, and write \"exec: [\(place)]\"")
        {
            return failure
        }
        return service.sandbox.settingAgainstExecuting(path.description).map { setting in
            let line = UnitFileLine.paths("ExecPaths", path.description, isOptional: false)
            return Failure(
                .outsideSandbox, at: .action(action.id), detail: "\(service.name) may not execute \(path) (\(setting))",
                remedy: .say("add \(line) to its [Service] section", run: .addSettings([line], to: service.name)))
        }
    }

    /// - Parameters:
    ///   - other: the path at which the service may see the file.
    ///   - words: how it gets there.
    private func problem(
        reading path: AbsolutePath, _ code: Failure.Code = .outsideSandbox, at place: Failure.Place,
        movedTo other: String, _ words: String
    ) -> Failure? {
        guard let setting = setting(hiding: path) else { return nil }
        let remedy = UnitInEffect(name: service.name, settings: service.settings).remedy(
            forHiddenBy: setting, words, unless: AbsolutePath(other).flatMap { self.setting(hiding: $0) })
        return Failure(
            code, at: place, detail: "\(service.name) does not see \(path) (\(setting))", remedy: remedy)
    }

    /// The setting that hides a file from the daemon.
    private func setting(hiding path: AbsolutePath) -> String? {
        if case .hidden(let setting) = service.sandbox.view(of: path.description) { setting } else { nil }
    }

    private mutating func unit(of user: String?) -> ServiceUnit? {
        guard let user else { return service }
        if let known = writers[user] { return known }
        let found = ServiceUnit.ofWriter(user)
        writers[user] = .some(found)
        return found
    }

    private mutating func problems(
        in directory: AbsolutePath, _ path: AbsolutePath, _ unit: ServiceUnit?, writer user: String?, _ met: Failure?
    ) -> [Failure] {
        let plain = [met].compactMap { $0 }
        let isInside = user != nil
        // Failures other than missing rights call for another path or another user.
        guard let unit, met.map({ Self.isOfRights($0, isInside: isInside) }) != false,
            isOpen(directory, to: user)
        else { return plain }
        switch unit.sandbox.view(of: directory.description) {
        case .writable:
            guard let failure = closed(directory, path, met, to: unit, isInside: isInside) else { return plain }
            return (isInside ? [] : plain) + [failure]
        case .readOnly(let setting, let canBeOpened):
            var remedy = Remedy.say("write another path")
            if canBeOpened {
                let line = UnitFileLine.paths("ReadWritePaths", directory.description)
                lines[unit.name, default: []].insert(line)
                remedy = Self.adding(line, to: unit)
            }
            let failure = Failure(
                .outsideSandbox, at: .path(path),
                detail: "\(unit.name) may not write to \(directory) (\(setting))", remedy: remedy)
            // A check from inside failed for this reason, unless the directory is read-only outside, too.
            let isForAll =
                met?.code == .readOnlyFileSystem && ReadOnlyCause.of(RealPath.of(directory.description)) != nil
            return (isInside && met?.code != .writerMissing && !isForAll ? [] : plain) + [failure]
        case .hidden(let setting):
            var remedy = Self.elsewhere(path, in: directory, unit, setting)
            if met == nil, setting.hasPrefix("ProtectHome=") || setting.hasPrefix("TemporaryFileSystem=") {
                let line = UnitFileLine.paths("BindPaths", directory.description)
                let both = setting == "ProtectHome=yes" ? ["ProtectHome=tmpfs", line] : [line]
                lines[unit.name, default: []].formUnion(both)
                remedy = Self.adding(both.joined(separator: " and "), to: unit)
            }
            let failure = Self.unseen(path, in: directory, unit, setting, remedy)
            return (met?.code == .writerMissing ? plain : []) + [failure]
        }
    }

    /// That the running unit does not write to a directory that its settings open. systemd opens directories when it starts the
    /// unit: not one that is created later, also if it is created in place of one that was removed or renamed.
    private mutating func closed(
        _ directory: AbsolutePath, _ path: AbsolutePath, _ met: Failure?, to unit: ServiceUnit, isInside: Bool
    ) -> Failure? {
        guard FileStatus.following(directory.description) != nil else { return nil }
        let real = RealPath.of(directory.description)
        // Not if the mount is read-only for all.
        guard let own = ownMounts, own.mount(of: real)?.isReadOnly == false else { return nil }
        let cause: String
        if isInside && met?.code == .readOnlyFileSystem || unit.mounts?.mount(of: real)?.isReadOnly == true {
            cause = "it was let write to \(directory), or before that directory was created, and may not write there"
        } else if let seen = unit.mounts?.place(of: real), seen != own.place(of: real), !unit.sandbox.replaces(real) {
            // A mount goes on showing the directory that was there.
            cause = "this \(directory) was created, and does not write there"
        } else {
            return nil
        }
        return Failure(
            .outsideSandbox, at: .path(path),
            detail: "\(unit.name) was started before \(cause) until it is restarted",
            remedy: .restarting(unit.name))
    }

    /// That the process that runs is not in the group of a file that it writes: it has the groups of its start.
    ///
    /// - Parameter identity: the user that writes it.
    func problem(withGroupOf spec: FileSpec, as identity: Identity) -> Failure? {
        guard let groups = service.groups else { return nil }
        let running = Identity(
            user: identity.user, group: groups.contains(identity.group) ? identity.group : Accounts.overflowID,
            groups: Array(groups))
        guard let failure = WriteProbe.failure(of: spec, as: running), failure.code == .groupNotPermitted else {
            return nil
        }
        return Failure(
            .groupNotPermitted, at: .path(spec.path),
            detail: "\(failure.detail ?? ""): \(service.name) was started before its user was in this group",
            remedy: .restarting(service.name))
    }

    /// Whether this user may write to the directory outside of any sandbox, by its owner and mode. A sandbox must not be opened
    /// for nothing.
    private func isOpen(_ directory: AbsolutePath, to user: String?) -> Bool {
        guard let status = FileStatus.following(directory.description), let id = id(of: user) else { return true }
        return status.owner == id || status.mode & 0o022 != 0
    }

    /// The user that the unit writes as.
    private func id(of user: String?) -> UInt32? {
        try? Accounts.userID(user ?? service.settings.user ?? ServiceUnit.daemonUser)
    }

    /// Whether the writing user lacks a directory or a group.
    private static func isOfRights(_ failure: Failure, isInside: Bool) -> Bool {
        guard failure.code.traits.contains(.mayBeOfSandbox) else { return false }
        // A remedy of its own names the writer of the user whose directory it is: the daemon needs that.
        return failure.code != .permissionDenied || isInside || !failure.hasRemedyOfItsOwn
    }

    private static func adding(_ line: String, to unit: ServiceUnit) -> Remedy {
        .say("add \(line) to its [Service] section with systemctl edit \(unit.name), and restart it")
    }
}
