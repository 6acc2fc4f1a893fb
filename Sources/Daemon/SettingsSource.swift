package import Config
import Keys
package import Linux
import Outputs
package import Rotation
import UserWriter

/// Where the configuration comes from, and what of the environment decides it.
package struct SettingsSource: Sendable {
    /// As the user wrote it, or from the root.
    package let path: String
    /// The first directory of `$STATE_DIRECTORY`, set by systemd's StateDirectory=.
    package let stateDirectory: AbsolutePath?
    /// `$CREDENTIALS_DIRECTORY`, set by systemd's LoadCredential=.
    package let credentials: AbsolutePath?
    /// Whose configuration and keys these are to be.
    package let identity: Identity
    /// Where a daemon keeps the text that it has adopted, where root does not keep it for it; nil: nowhere.
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

    package func load() -> Result<Loaded, Refusal> {
        SettingsLoader.load(path: path, as: identity, stateDirectory: stateDirectory)
    }

    /// The line to the writers, whose sockets lie beside the daemon's.
    func writers(besideSocket socket: String, cancel: EventCounter?) -> UserWriterClient {
        UserWriterClient(
            besideSocket: socket, configuration: SettingsLoader.absolutePath(of: path)?.description ?? path,
            identity: identity, cancel: cancel, sha256: { SHA256.digest($0) })
    }

    /// The state directory that a configuration stands for.
    package func stateDirectory(of configuration: Configuration) -> AbsolutePath? {
        configuration.stateDirectory ?? stateDirectory ?? AbsolutePath(Configuration.defaultStateDirectory)
    }

    /// Opens it, in place of `former` if there is one. Blocks.
    func openState(
        of configuration: Configuration, after former: StateDirectory? = nil
    ) -> Result<StateDirectory, Failure> {
        guard let path = stateDirectory(of: configuration) else {
            return .failure(Failure(.stateUnusable, at: .named(Configuration.defaultStateDirectory)))
        }
        do throws(Failure) {
            return .success(try StateDirectory.open(path, as: identity, after: former, sha256: { SHA256.digest($0) }))
        } catch {
            return .failure(error)
        }
    }
}
