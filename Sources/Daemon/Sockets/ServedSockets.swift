import Linux
import Model
import Rotation
import StatusAPI

/// The servers of the daemon's sockets; none with `--once`.
struct ServedSockets: Sendable {
    /// Nil also if the socket cannot be created.
    let status: StatusListener?
    let credentials: CredentialSocket?

    /// Lets the users that a configuration names use the sockets, and serves its sockets. Any thread.
    ///
    /// - Returns: the daemon faults that this raises or clears.
    func follow(_ configuration: Configuration, as identity: Identity) -> [Input] {
        let control = ControlPermission(configuration, identity)
        return [control.fault(in: configuration), status?.permit(control), credentials?.adopt(configuration)]
            .compactMap(\.self)
    }
}
