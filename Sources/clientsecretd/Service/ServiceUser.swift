import Config
import Daemon
import Failures
import Glibc
import Linux
import Model
import SystemPackage
import Systemd

/// The user that runs a configuration's daemon, with its rights and credentials. For the configuration that the package's service
/// reads that is the service's user, by the settings of its unit. For any other it is the owner of its state directory, which no
/// other user's daemon can use. That is the service's directory for one that names none, such as a copy that is tried before it is
/// moved into place. Root must not judge, or change, that user's files as if they were root's.
enum ServiceUser {
    /// Root may do everything. So when root checks a configuration, this turns the process for good into the user that runs its
    /// daemon. If none is known, it is checked as the caller.
    ///
    /// Returns the unit whose sandbox restricts that user: for another configuration than the service's the one whose daemon uses its
    /// state directory. Nil if it is not known, systemd cannot be asked, or for another user.
    static func judge(configuration: String) throws(CommandFailure) -> ServiceUnit? {
        if geteuid() == 0 { noteAddedLines() }
        let owner = try CommandFailure.explaining {
            () throws(SystemError) -> (account: Account, state: AbsolutePath?)? in
            isServices(configuration)
                ? try ServiceUnit.daemonAccount().map { (account: $0, state: nil) }
                : try stateOwner(of: configuration, OwnEnvironment.current)
        }
        guard let (user, state) = owner, geteuid() == 0 || geteuid() == user.id else { return nil }
        // Asked while still root, because root needs no message bus for it.
        let unit = isServices(configuration) ? ServiceUnit.ofDaemon() : state.flatMap(ServiceUnit.ofDaemon)
        if let unit, unit.name != PackageUnit.daemon {
            var context = CommandContext.current
            context.unit = unit.name
            context.use()
        }
        if geteuid() == 0 {
            try become(try CommandFailure.explaining { () throws(SystemError) in try unit?.account(of: user) ?? user })
        }
        return unit
    }

    /// Notes what the files hold to which commands add lines, before this process stops being root: others may not read polkit's.
    private static func noteAddedLines() {
        var context = CommandContext.current
        let dropIns = ForeignFile.paths(matching: ShellCommand.outputsFiles)
        for file in [PolkitRule.file, ShellCommand.runtimeDirectories] + dropIns {
            guard let bytes = ForeignFile.read(file, limit: 1 << 20) else {
                if FileStatus.isAbsent(file) { context.addedLines[file] = [] }
                continue
            }
            let text = String(decoding: bytes, as: UTF8.self)
            context.addedLines[file] = text.split(whereSeparator: \.isNewline).map(String.init)
        }
        context.use()
    }

    /// The settings of the service's units, until this process stops being root. Nil for another daemon's configuration, and if
    /// systemd cannot be asked. From now on no command restarts one that cannot start.
    static func unitsInEffect(of loaded: LoadedConfiguration? = nil, at path: String) -> UnitsInEffect? {
        guard geteuid() == 0, isServices(path) || isOfServicesUser(path),
            var units = UnitsInEffect(of: loaded?.configuration)
        else { return nil }
        if let loaded { units.judgeSources(for: loaded) }
        units.forbidStarts(by: loaded?.configuration)
        return units
    }

    /// The failure that the user of the service's unit does not exist. Nil if it does, if it is another configuration, or if that
    /// is not known. Without the user nothing is judged, because root would be advised to give the files to root.
    static func missing(for configuration: String) -> Failure? {
        guard geteuid() == 0, isServices(configuration), let user = ServiceUnit.namedUser else { return nil }
        do throws(SystemError) {
            if try ServiceUnit.daemonAccount() != nil { return nil }
        } catch {
            return nil
        }
        let isPackages =
            user == Identity.serviceName
            && ["/etc", "/run", "/usr/local/lib", "/usr/lib"].contains {
                FileStatus.following("\($0)/sysusers.d/clientsecretd.conf") != nil
            }
        return Failure(
            .unknownUser, at: .named(user), detail: "the service runs as this user",
            remedy: .run(isPackages ? .addServiceUser : nil, otherwise: "add the user, or correct User= of the service")
        )
    }

    /// Whether a user other than root and the service's user asks about the service's configuration.
    static func isForeign(to configuration: String) -> Bool {
        guard geteuid() != 0, isServices(configuration),
            let account = try? ServiceUnit.daemonAccount()
        else { return false }
        return geteuid() != account.id
    }

    /// Whether the user of this process, which ``judge(configuration:)`` may have changed, runs the configuration's daemon. For a
    /// configuration other than the package's, it owns the state directory or the configuration.
    static func isCaller(of loaded: LoadedConfiguration, from source: ConfigurationSource) -> Bool {
        if isServices(source.path) { return !isForeign(to: source.path) }
        let state = source.stateDirectory(of: loaded.configuration)?.description
        return geteuid() == 0
            || [state, source.path].contains { path in path.flatMap(FileStatus.following)?.owner == geteuid() }
    }

    /// The note that `check` shows to such a user. It cannot see the service's rights, and commands for its own rights would be
    /// wrong as root.
    static var limits: String {
        "This user is not the service's, so it cannot judge everything. "
            + (ShellCommand.checkAsRoot.map { "Run: \($0.text)" } ?? "Check it as root")
    }

    /// When root runs the daemon by hand, turns this process into the user that runs the service, or for another configuration
    /// than the service's into the one that owns the state directory. That user's daemon could no longer use files that root
    /// created or took over.
    ///
    /// Returns the environment with which that user's daemon runs.
    static func run(configuration: String) throws(CommandFailure) -> [String: String] {
        let environment = OwnEnvironment.current
        // systemd starts it as the user that the unit names (systemd.exec(5)).
        guard environment["SYSTEMD_EXEC_PID"] != String(getpid()), geteuid() == 0 || isForeign(to: configuration)
        else { return environment }
        // A state directory that does not respond keeps no client from being served.
        DiskTimeout.begin(seconds: 5)
        defer { DiskTimeout.end() }
        guard geteuid() == 0 else {
            try requireKeys(of: configuration)
            return environment
        }
        let service = try CommandFailure.explaining { () throws(SystemError) in
            isServices(configuration) ? try ServiceUnit.daemonAccount() : nil
        }
        if let service {
            let environment = Self.environment(for: configuration)
            // systemd creates it when the service starts. If that fails, the daemon reports the missing directory.
            if let state = ServiceUnit.stateDirectory, unsafe mkdir(state, 0o700) == 0 {
                _ = unsafe chown(state, service.id, service.primaryGroup)
            }
            try become(service)
            return environment
        }
        let owner = try CommandFailure.explaining { () throws(SystemError) in
            try stateOwner(of: configuration, environment)?.account
        }
        guard let owner else { return environment }
        let ownersEnvironment = Self.environment(for: configuration)
        try become(owner)
        return ownersEnvironment
    }

    /// Throws if another user than root and the service's user runs the service's configuration and may not read its keys. The
    /// daemon would advise to give that user all that is the service's.
    private static func requireKeys(of configuration: String) throws(CommandFailure) {
        guard case .success(let loaded) = ConfigurationSource.ofService(configuration).load() else { return }
        for case .file(let path) in loaded.configuration.keys.values.map(\.location)
        where FileStatus.problem(accessing: path.description, R_OK) == Errno.permissionDenied {
            throw NamedFile.closed(path.description, .notPermitted)
        }
    }

    private static func become(_ account: Account) throws(CommandFailure) {
        try CommandFailure.explaining { () throws(SystemError) in try Hardening.become(account) }
    }

    /// The user that runs the command. Files are also judged for the user that runs the configuration's daemon, so that a key
    /// guarded for that user does not count as unguarded. If root runs it, as `run` would, the service's key is not root's.
    fileprivate static func identity(for configuration: String) -> Identity {
        // If the user database cannot be read, they are judged for no other user.
        let account = try? account(of: configuration)
        return Identity.current().judging(filesOf: account)
    }

    /// The same for a key that a flag names: the service's user reads it if the service's configuration names the file. Commands
    /// then give the key to that user, and otherwise leave it to its owner.
    static func identity(forKey key: AbsolutePath) -> Identity {
        let service = try? ServiceUnit.daemonAccount()
        guard case .success(let loaded) = ConfigurationSource.ofService(configuration).load(),
            loaded.configuration.keys.values.contains(where: { $0.location == .file(key) })
        else { return Identity.current().judging(fileOfPossibly: service) }
        return Identity.current().judging(filesOf: service)
    }

    /// The same for files that will become the service's.
    static var identity: Identity { Identity.current().acting(for: try? ServiceUnit.daemonAccount()) }

    private static func account(of configuration: String) throws(SystemError) -> Account? {
        isServices(configuration)
            ? try ServiceUnit.daemonAccount()
            : try stateOwner(of: configuration, OwnEnvironment.current)?.account
    }

    /// For root, the other user that owns the state directory of a configuration, and that directory. Nil if that user has called
    /// root (sudo(8)).
    private static func stateOwner(
        of configuration: String, _ environment: [String: String]
    ) throws(SystemError) -> (account: Account, state: AbsolutePath?)? {
        guard geteuid() == 0, let file = FileStatus.following(configuration) else { return nil }
        // The configuration may be that user's own.
        let owner = try Accounts.user(id: file.owner)
        let source = ConfigurationSource(
            path: configuration, environment: environment, as: owner.map(identity.acting) ?? identity)
        guard case .success(let loaded) = source.load() else { return nil }
        let isStandard = configuration == ConfigurationOption.standard
        // Without a service, a copy that is only checked need not be about the daemon that uses the default directory.
        let unnamed: AbsolutePath? =
            isStandard
            ? source.stateDirectory(of: loaded.configuration)
            : environment["STATE_DIRECTORY"] == nil ? ServiceUnit.stateDirectory.flatMap { AbsolutePath($0) } : nil
        guard let state = loaded.configuration.stateDirectory ?? unnamed,
            let user = FileStatus.following(state.description)?.owner, user != 0, user != Identity.current().caller,
            let account = try Accounts.user(id: user)
        else { return nil }
        // A copy that only root can read is also not the one that the user's daemon reads.
        let isReadable = try ThreadUser.perform(as: account) {
            unsafe faccessat(AT_FDCWD, configuration, R_OK, AT_EACCESS) == 0
        }
        return isReadable ? (account, state) : nil
    }

    /// Whether the service's user would run another configuration than the service's, in the service's state directory.
    private static func isOfServicesUser(_ configuration: String) -> Bool {
        guard SystemManager.isSystemd, let service = try? ServiceUnit.daemonAccount() else { return false }
        if geteuid() != 0 {
            // A second daemon of this user has a state directory, and credentials, of its own.
            let source = ConfigurationSource(path: configuration, environment: OwnEnvironment.current)
            guard geteuid() == service.id, case .success(let loaded) = source.load() else { return false }
            return loaded.configuration.stateDirectory.map { $0.description == ServiceUnit.stateDirectory } ?? true
        }
        let owner = try? stateOwner(of: configuration, OwnEnvironment.current)
        return owner?.account.id == service.id && owner?.state?.description == ServiceUnit.stateDirectory
    }

    /// This process's environment. For the service's configuration, and one that its user would run in its place, it adds the
    /// service's state directory, and the directory of the credentials that systemd provides to the service while it runs
    /// (systemd.exec(5), `LoadCredential=`).
    fileprivate static func environment(for configuration: String) -> [String: String] {
        var environment = OwnEnvironment.current
        guard isServices(configuration) || isOfServicesUser(configuration) else { return environment }
        if environment["STATE_DIRECTORY"] == nil { environment["STATE_DIRECTORY"] = ServiceUnit.stateDirectory }
        if environment["CREDENTIALS_DIRECTORY"] == nil, unsafe access(credentials, X_OK) == 0 {
            environment["CREDENTIALS_DIRECTORY"] = credentials
        }
        return environment
    }

    private static let credentials = "/run/credentials/\(PackageUnit.daemon)"

    /// The configuration that the package's service reads: the one that its unit names, else the default.
    static var configuration: String { ServiceUnit.namedConfiguration ?? ConfigurationOption.standard }

    /// Whether the package's service reads this configuration, on a machine with systemd.
    static func isServices(_ configuration: String) -> Bool {
        SystemManager.isSystemd && isSame(configuration, Self.configuration)
    }

    /// Whether the caller reads the configuration that a daemon says it has loaded. Another user's daemon could name a file of that
    /// user's, and have root look into any file as an output.
    static func isReadByCaller(_ loaded: String) -> Bool {
        // One that is relative starts at the daemon's working directory.
        guard loaded.hasPrefix("/") else { return false }
        return isServices(loaded) || FileStatus.following(loaded).map { [0, geteuid()].contains($0.owner) } == true
    }

    /// Whether two paths name one configuration; one may be relative to the working directory.
    static func isSame(_ one: String, _ other: String) -> Bool {
        one == other || ConfigurationLoader.absolutePath(of: one)?.description == other
    }
}

extension ConfigurationSource {
    /// The configuration at this path as the caller may use it, with its files judged for the user that runs its daemon as well.
    static func ofService(_ path: String) -> ConfigurationSource {
        ConfigurationSource(
            path: path, environment: ServiceUser.environment(for: path), as: ServiceUser.identity(for: path))
    }

    /// The same, but for this process's user only, which ``ServiceUser/judge(configuration:)`` may have changed.
    static func ofCaller(_ path: String) -> ConfigurationSource {
        ConfigurationSource(path: path, environment: ServiceUser.environment(for: path))
    }
}
