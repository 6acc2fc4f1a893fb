import Actions
import Failures
import Formats
package import Linux
package import Model
internal import SystemPackage
package import Systemd

/// One of the package's units as systemd has loaded it, drop-ins included.
package struct ServiceUnit: Sendable {
    package let name: String
    package let sandbox: UnitSandbox
    /// If so, a change of its settings needs a restart.
    package let isRunning: Bool
    /// Its settings in effect.
    let settings: UnitSettings
    /// What its main process sees, which was made when it was started; nil if it does not run, or only root may look.
    var mounts: MountTable?
    /// Those of its main process, which it has from its start on; nil if it does not run.
    var groups: Set<UInt32>?

    /// Systemd's answer about the unit that runs the package's daemon. Asked once.
    private static let asked: Result<ServiceUnit?, UnitError> = Result { () throws(UnitError) in
        guard SystemManager.isSystemd else { return nil }
        var systemd = try SystemdClient(timeout: UnitTimeouts.shortAnswer, cancel: nil)
        return try systemd.unitOfDaemon()
    }

    /// `User=` of the unit that runs the package's daemon, drop-ins included; nil if systemd does not tell it, such as for
    /// `DynamicUser=yes`.
    package static let namedUser: String? = (try? asked.get())?.settings.user

    /// The user that runs the package's daemon, only to show or compare it: the one that its unit names, else the
    /// package's own.
    package static let daemonUser: String = namedUser ?? Identity.serviceName

    /// The configuration that the package's daemon reads, if its unit names one, drop-ins included; nil if it names none, or
    /// systemd does not answer.
    package static let namedConfiguration: String? = (try? asked.get())?.configuration

    /// `StateDirectory=` of that unit.
    package static let stateDirectory: String? = (try? asked.get())?.settings.stateDirectory

    /// The account of that user, with the groups that the unit gives it; nil if there is none. Throws if systemd did not answer.
    /// Its unit may name another user than
    /// the package's, and nothing must be judged or created for the wrong one.
    package static func daemonAccount() throws(SystemError) -> Account? {
        if case .failure(let error) = asked, error.isSilence {
            throw SystemError("ask systemd which user runs the daemon", errno: .timedOut)
        }
        guard let account = try Accounts.user(called: daemonUser) else { return nil }
        return try (try? asked.get())?.account(of: account) ?? account
    }

    /// The polkit rule that lets that user have an action run; nil for an action that needs none.
    package static func polkitRule(for action: Action) -> String? { action.rule(forUser: daemonUser) }

    /// A user in a process of this unit, with the groups that the unit gives it.
    package func account(of user: Account) throws(SystemError) -> Account {
        var account = user
        account.addedGroups = []
        if let name = settings.group, let group = try Accounts.groupID(name) { account.primaryGroup = group }
        // systemd does not start a unit with a group that does not exist.
        for name in settings.supplementaryGroups {
            if let group = try Accounts.groupID(name) { account.addedGroups.append(group) }
        }
        return account
    }

    /// Whether a user is in a group in the next process of this unit.
    func puts(user: UInt32, inGroup group: UInt32) -> Bool {
        guard let user = try? Accounts.user(id: user), let account = try? account(of: user) else { return false }
        return Accounts.isMember(account, of: group)
    }

    /// The configuration that the unit names to the daemon: by a flag, else in its environment. An environment file takes
    /// precedence over `Environment=`.
    var configuration: String? {
        let variable = "CLIENTSECRETD_CONFIG"
        if let path = settings.value(ofFlag: "--config") { return path }
        let inFiles = settings.environmentFiles.flatMap(ForeignFile.paths)
            .flatMap { FoundAssignment.all(in: ForeignFile.read($0, limit: 1 << 20) ?? []) }
            .last { $0.name == variable && !$0.isExported }
        let path =
            inFiles.map { String(decoding: $0.value, as: UTF8.self) }
            ?? settings.environment.last { $0.hasPrefix(variable + "=") }
            .map { String($0.dropFirst(variable.count + 1)) }
        return path.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The unit that runs the daemon: the timer's where the timer is enabled or running and the service is neither,
    /// else the service. Nil if systemd cannot be asked. Blocks.
    package static func ofDaemon() -> ServiceUnit? {
        SystemdClient.ask { systemd throws(UnitError) in try systemd.unitOfDaemon() }
    }

    /// The unit of the daemon that this process is or is about. Another daemon than the package's runs in a unit of its own. The
    /// package's if no other is known. Nil if systemd cannot be asked. Blocks.
    static func ofThisDaemon() -> ServiceUnit? {
        guard let name = CommandContext.current.unit else { return ofDaemon() }
        return (try? named(name)) ?? nil
    }

    /// The service of the daemon that uses a state directory, or would: the package's, if nothing uses that one's. Nil if there is
    /// none, or if systemd cannot be asked. The daemon is not asked: where systemd listens for it, that would start it. Blocks.
    package static func ofDaemon(using state: AbsolutePath) -> ServiceUnit? {
        guard SystemManager.isSystemd else { return nil }
        guard let holder = FileLock.holder(of: "\(state)/lock") else {
            return state.description == stateDirectory ? ofDaemon() : nil
        }
        return Cgroup.service(ofProcessIn: "/proc/\(holder)").flatMap { (try? named($0)) ?? nil }
    }

    /// The service of this name; nil if systemd knows too little of it. Blocks.
    static func named(_ name: String) throws(UnitError) -> ServiceUnit? {
        // Less than a start waits for its state directory.
        var systemd = try SystemdClient(timeout: UnitTimeouts.shortAnswer, cancel: nil)
        return try systemd.unit(name, followsLinks: false)
    }

    /// The unit of a user's writer; nil if there is none, or systemd cannot be asked. Blocks.
    static func ofWriter(_ user: String) -> ServiceUnit? {
        SystemdClient.ask { systemd throws(UnitError) in try systemd.unit(PackageUnit.writer(of: user)) }
    }
}

extension SystemdClient {
    fileprivate mutating func unitOfDaemon() throws(UnitError) -> ServiceUnit? {
        let isService = try isUsed(PackageUnit.daemon)
        let isTimer = try isUsed(PackageUnit.singleRunTimer)
        return try unit(isTimer && !isService ? PackageUnit.singleRun : PackageUnit.daemon)
    }

    fileprivate mutating func isUsed(_ unit: String) throws(UnitError) -> Bool {
        if try enablement(of: unit).hasPrefix("enabled") { return true }
        return try state(of: unit).isRunning
    }

    fileprivate mutating func unit(_ name: String, followsLinks: Bool = true) throws(UnitError) -> ServiceUnit? {
        guard let settings = try settings(of: name), let sandbox = settings.sandbox(followsLinks: followsLinks) else {
            return nil
        }
        return ServiceUnit(
            name: name, sandbox: sandbox, isRunning: try state(of: name).isRunning, settings: settings,
            mounts: settings.mainProcess.flatMap { MountTable.of(process: $0.id) },
            groups: settings.mainProcess.flatMap { ProcessStatus(ofProcess: $0.id)?.groups })
    }
}

extension UnitState {
    /// Whether it has processes, or is about to.
    fileprivate var isRunning: Bool { !["inactive", "failed"].contains(activity) }
}

extension Identity {
    /// The user whose rights count: the service's if root asks and it exists, else the calling user.
    static func ofService(askedBy identity: Identity) -> Identity {
        guard identity.user == 0, let account = try? ServiceUnit.daemonAccount() else {
            return identity
        }
        return Identity(user: account.id, group: account.primaryGroup)
    }
}
