import Linux
package import Rotation

/// Whether systemd would carry out an action for the daemon.
package enum UnitPermission {
    /// What is missing, such as a rule of polkit's, with the words that mend it; nil when nothing is. Judged for the
    /// service's user where root asks and there is one, else for whoever asks. Does nothing to the unit. Blocks.
    package static func obstacle(to action: Action) -> Failure? {
        let user = Identity.ofService(askedBy: Identity.current()).user
        return UnitRunner(cancel: nil).obstacles(to: [action], as: user)[action]
    }
}
