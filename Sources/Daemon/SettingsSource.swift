package import Linux
package import Rotation
package import Settings

/// Where the configuration comes from, and what of the environment decides it.
package struct SettingsSource: Sendable {
    /// As the user wrote it.
    package let path: String
    /// The first directory of `$STATE_DIRECTORY`, set by systemd's StateDirectory=.
    package let stateDirectory: AbsolutePath?
    /// `$CREDENTIALS_DIRECTORY`, set by systemd's LoadCredential=.
    package let credentials: AbsolutePath?
    /// Whose configuration and keys these are to be.
    package let identity: Identity

    package init(path: String, environment: [String: String]) {
        self.path = path
        stateDirectory = environment["STATE_DIRECTORY"].flatMap { list in
            list.split(separator: ":").first.flatMap { AbsolutePath($0) }
        }
        credentials = environment["CREDENTIALS_DIRECTORY"].flatMap { AbsolutePath($0) }
        identity = Identity.current()
    }

    package func load() -> Result<Loaded, Refusal> {
        SettingsLoader.load(path: path, as: identity, stateDirectory: stateDirectory)
    }

    /// The state directory that a configuration stands for.
    package func stateDirectory(of configuration: Configuration) -> AbsolutePath? {
        configuration.stateDirectory ?? stateDirectory ?? AbsolutePath(Configuration.defaultStateDirectory)
    }
}
