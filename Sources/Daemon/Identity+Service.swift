package import Linux
package import Rotation
import SystemPackage

extension Identity {
    /// This user, as whom keys are read: who trusts what the configuration says.
    package func trusting(_ configuration: Configuration) -> Identity {
        trusting(configuration.trustedDirectories.map { FilePath($0.description) })
    }

    /// Whom the package's unit runs the daemon as.
    private static let serviceUser = "clientsecretd"

    /// The user whose rights count: that of the service where root asks and there is one, else whoever asks.
    static func ofService(askedBy identity: Identity) -> Identity {
        guard identity.user == 0, let account = (try? Accounts.user(named: serviceUser)).flatMap({ $0 }) else {
            return identity
        }
        return Identity(user: account.id, group: account.primaryGroup)
    }
}
