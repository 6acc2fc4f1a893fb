import Linux

extension Identity {
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
