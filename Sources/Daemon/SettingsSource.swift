package import Config
import Failures
import Keys
package import Linux
import Outputs
package import Rotation
import UserWriter

/// Where the configuration comes from, and the parts of the environment that decide it.
package struct SettingsSource: Sendable {
    /// As the user wrote it, or absolute.
    package let path: String
    /// The first directory of `$STATE_DIRECTORY`, set by systemd's StateDirectory=.
    package let stateDirectory: AbsolutePath?
    /// `$CREDENTIALS_DIRECTORY`, set by systemd's LoadCredential=.
    package let credentials: AbsolutePath?
    /// The user whose configuration and keys these have to be.
    package let identity: Identity
    /// Where a daemon keeps the text that it adopted, if root keeps none; nil: nowhere.
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

    /// The client of the writers, whose sockets lie beside the daemon's.
    func writers(besideSocket socket: String, cancel: EventCounter?) -> UserWriterClient {
        UserWriterClient(
            besideSocket: socket, configuration: SettingsLoader.absolutePath(of: path)?.description ?? path,
            identity: identity, cancel: cancel, sha256: { SHA256.digest($0) })
    }

    /// The state directory: configured, else systemd's, else the default.
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
