import Linux
import Model
import Rotation
import StatusAPI

/// What serves the daemon's sockets; nothing with `--once`.
struct ServedSockets: Sendable {
    /// Nil also if the socket cannot be made.
    let status: StatusListener?
    let credentials: CredentialSocket?

    /// Lets those use the sockets whom a configuration names, and serves what it wants served. Any thread.
    ///
    /// - Returns: the daemon faults that this raises or clears.
    func follow(_ configuration: Configuration, as identity: Identity) -> [Input] {
        let control = ControlPermission(configuration, identity)
        return [control.fault(in: configuration), status?.permit(control), credentials?.adopt(configuration)]
            .compactMap(\.self)
    }
}
