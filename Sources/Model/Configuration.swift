/// The administrator's configuration, with every value checked and every default filled in.
package struct Configuration: Hashable, Sendable {
    package var keys: [KeyName: KeyConfiguration]
    package var clients: [ClientName: ClientConfiguration]
    package var onStateChange: [Action]
    /// The group whose members may renew and reload over the socket; nil: only root and the daemon's own user may.
    package var controlGroup: String?
    /// Nil: the first directory of `$STATE_DIRECTORY`, else ``defaultStateDirectory``.
    package var stateDirectory: AbsolutePath?
    package var metricsFile: AbsolutePath?
    /// Through which machines share secrets; nil without one.
    package var store: SecretStore?
    /// Below these directories, nothing checks whether other users may write to an output's directory or read a key.
    package var trustedDirectories: [AbsolutePath]

    package init(
        keys: [KeyName: KeyConfiguration], clients: [ClientName: ClientConfiguration], onStateChange: [Action] = [],
        controlGroup: String? = nil, stateDirectory: AbsolutePath? = nil, metricsFile: AbsolutePath? = nil,
        trustedDirectories: [AbsolutePath] = [], store: SecretStore? = nil
    ) {
        self.store = store
        self.keys = keys
        self.clients = clients
        self.onStateChange = onStateChange
        self.controlGroup = controlGroup
        self.stateDirectory = stateDirectory
        self.metricsFile = metricsFile
        self.trustedDirectories = trustedDirectories
    }
}

extension Configuration {
    /// Files that decide which secret a client gets: keys, their passphrases, sources, and the programs that are run.
    package var inputs: Set<AbsolutePath> {
        var all: Set<AbsolutePath> = []
        for entry in keys.values {
            for case .file(let path)? in [entry.location, entry.passphrase] { all.insert(path) }
        }
        all.formUnion(clients.values.compactMap { $0.source?.path })
        for action in clients.values.flatMap(\.onChange) + onStateChange {
            if case .exec(let arguments, _) = action, let path = arguments.first.flatMap({ AbsolutePath($0) }) {
                all.insert(path)
            }
        }
        return all
    }
}
