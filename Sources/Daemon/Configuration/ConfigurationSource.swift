package import Config
import Failures
package import Linux
package import Model
import State
import SystemPackage

/// The place of the configuration, and the parts of the environment that decide it.
package struct ConfigurationSource: Sendable {
    /// As the user wrote it, or absolute.
    package let path: String
    /// The first directory of `$STATE_DIRECTORY`, set by systemd's StateDirectory=.
    package let stateDirectory: AbsolutePath?
    /// `$CREDENTIALS_DIRECTORY`, set by systemd's LoadCredential=.
    package let credentials: AbsolutePath?
    /// The user whose configuration and keys these have to be.
    package let identity: Identity
    /// The file in which a daemon keeps the text that it adopted, if root keeps none; nil: nowhere.
    let ownAdopted: String?

    package init(path: String, environment: [String: String], as identity: Identity = .current()) {
        self.path = path
        self.identity = identity
        ownAdopted = Self.ownAdopted(environment, identity)
        stateDirectory = environment["STATE_DIRECTORY"].flatMap { list in
            list.split(separator: ":").first.flatMap { AbsolutePath($0) }
        }
        credentials = environment["CREDENTIALS_DIRECTORY"].flatMap { AbsolutePath($0) }
    }

    package func load() -> Result<LoadedConfiguration, ConfigurationError> {
        ConfigurationLoader.load(path: path, as: identity, stateDirectory: stateDirectory)
            .mapError { OwnSandbox.explained($0, of: path) }
    }

    /// The state directory: configured, else systemd's, else the default.
    package func stateDirectory(of configuration: Configuration) -> AbsolutePath? {
        configuration.stateDirectory ?? stateDirectory ?? AbsolutePath(Configuration.defaultStateDirectory)
    }
}

/// The last adopted text. A start uses it if the present text is refused or missing.
///
/// Under systemd root keeps it (`ExecStartPre=+`, and `clientsecretd reload` as root): an attacker who takes over the daemon
/// cannot change it there. If root keeps none, the daemon does.
extension ConfigurationSource {
    /// The configuration that was last adopted; nil if no copy passes.
    package func loadAdopted() -> LoadedConfiguration? {
        LastGoodConfiguration.load(
            path: path, in: LastGoodConfiguration.directory, as: .root, stateDirectory: stateDirectory)
            ?? ownAdopted.flatMap {
                LastGoodConfiguration.load(path: path, in: $0, as: identity, stateDirectory: stateDirectory)
            }
    }

    /// Whether root's copy is of this configuration; also where root keeps none, or none that this user may read. Blocks.
    func isKeptByRoot(_ loaded: LoadedConfiguration) -> Bool {
        LastGoodConfiguration.isCopy(of: loaded, in: LastGoodConfiguration.directory, as: .root) ?? true
    }

    /// Keeps the configuration just adopted, unless root keeps a copy for this path. Blocks.
    func keepAdopted(_ loaded: LoadedConfiguration) throws(FileError) {
        guard let ownAdopted, let main = loaded.files.first,
            ownAdopted == LastGoodConfiguration.directory
                || !LastGoodConfiguration.isKept(main, in: LastGoodConfiguration.directory)
        else { return }
        if let directory = AbsolutePath(ownAdopted)?.directory { try makeDirectory(directory) }
        // Writers of a daemon that runs as root read it as other users.
        let readers = identity.user == 0 ? loaded.readers : nil
        try Self.keep(loaded, in: ownAdopted, as: identity, for: readers ?? .owner, otherwise: .owner)
    }

    /// Keeps the present text as root, if it passes: loaded with the daemon's rights, and only from files that root
    /// trusts. One that does not pass changes nothing.
    ///
    /// - Parameters:
    ///   - daemonUser: the name or number of the user that the daemon runs as; root if there is no such user. Nil: that of the
    ///     package's unit.
    ///   - isUpdate: keep it only where there is a copy already.
    package static func keepAsRoot(
        path: String, environment: [String: String], daemonUser: String? = nil, isUpdate: Bool
    ) throws {
        let source = ConfigurationSource(path: path, environment: environment, as: .root)
        guard let main = ConfigurationLoader.absolutePath(of: path),
            !isUpdate || LastGoodConfiguration.isKept(main, in: LastGoodConfiguration.directory)
        else { return }
        let user = try daemonUser.map { name throws(SystemError) in try Accounts.user(called: name) }
        let account = try (user ?? ServiceUnit.daemonAccount()).flatMap { $0.id == 0 ? nil : $0 }
        let result: Result<LoadedConfiguration, ConfigurationError>
        if let account {
            result = try ThreadUser.perform(as: account) { source.load() }
        } else {
            result = source.load()
        }
        guard case .success(let loaded) = result else {
            // /run is empty after a boot.
            if SystemManager.isSystemd, let adopted = source.loadAdopted() { try RoleAddresses(of: adopted).apply() }
            return
        }
        // Otherwise the daemon reads it by the group that may read its keys.
        let ofDaemon = account.map { FileReaders.members(of: $0.primaryGroup) } ?? .owner
        // It has read the files, so a copy for their owner only would not be like them.
        let readers = loaded.readers.flatMap { $0 == .owner ? nil : $0 }
        try keep(
            loaded, in: LastGoodConfiguration.directory, as: .root, for: readers ?? ofDaemon, otherwise: ofDaemon)
        if SystemManager.isSystemd { try RoleAddresses(of: loaded).apply() }
    }

    /// - Parameter narrow: the readers if the file system, or this user namespace, does not take the others.
    private static func keep(
        _ loaded: LoadedConfiguration, in directory: String, as identity: Identity, for readers: FileReaders,
        otherwise narrow: FileReaders
    ) throws(FileError) {
        let copy = LastGoodConfiguration(of: loaded)
        do throws(FileError) {
            try copy.keep(in: directory, as: identity, for: readers)
        } catch {
            guard readers != narrow, [.attributesNotKept, .groupNotPermitted].contains(error.code) else { throw error }
            try copy.keep(in: directory, as: identity, for: narrow)
        }
    }

    static func ownAdopted(_ environment: [String: String], _ identity: Identity) -> String? {
        func place(_ name: String) -> String? {
            environment[name].flatMap { $0.split(separator: ":").first.map(String.init) }
                .flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        if let state = place("STATE_DIRECTORY") { return state + "/adopted" }
        if identity.user == 0 { return LastGoodConfiguration.directory }
        // As the XDG Base Directory Specification has it.
        let state = place("XDG_STATE_HOME") ?? place("HOME").map { $0 + "/.local/state" }
        return state.map { $0 + "/clientsecretd-adopted" }
    }

    /// Makes a directory and those that lead to it, where they are missing.
    private func makeDirectory(_ path: AbsolutePath) throws(FileError) {
        guard FileStatus.isAbsent(path.description), path.description != "/" else { return }
        try makeDirectory(path.directory)
        try GuardedPath.makeDirectory(path.description, mode: 0o700, as: identity)
    }
}

extension Identity {
    /// This user with the configuration's trusted directories.
    package func trusting(_ configuration: Configuration) -> Identity {
        trusting(configuration.trustedDirectories.map { FilePath($0.description) })
    }
}
