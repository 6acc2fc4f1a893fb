import Actions
import Linux
package import Rotation

/// Whether systemd would carry out an action for the daemon.
package enum UnitPermission {
    /// What is missing, such as a polkit rule, with its remedy; nil when nothing is. Checked for the service's user
    /// where root asks and it exists, else for the one who asks. Does nothing to the unit. Blocks.
    package static func obstacle(to action: Action) -> Failure? {
        let user = Identity.ofService(askedBy: Identity.current()).user
        return UnitAction(cancel: nil).obstacles(to: [action], as: user)[action]
    }
}
