package import Linux
package import Rotation
import SystemPackage

extension Identity {
    /// This user with the configuration's trusted directories, as whom keys are read.
    package func trusting(_ configuration: Configuration) -> Identity {
        trusting(configuration.trustedDirectories.map { FilePath($0.description) })
    }

    /// `User=` of the package's unit.
    private static let serviceUser = "clientsecretd"

    /// The user whose rights count: the service's where root asks and it exists, else the one who asks.
    static func ofService(askedBy identity: Identity) -> Identity {
        guard identity.user == 0, let account = (try? Accounts.user(named: serviceUser)).flatMap({ $0 }) else {
            return identity
        }
        return Identity(user: account.id, group: account.primaryGroup)
    }
}
