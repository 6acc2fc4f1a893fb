import Linux
import Systemd

/// The listening credential socket: one that systemd passed, or one of the daemon's own.
final class CredentialListener: Sendable {
    let raw: Int32
    /// Nil when systemd passed the socket, which then outlives the daemon.
    private let own: UnixListener?
    private let passed: Descriptor?

    /// systemd connects as root, which may do so whoever owns the socket; nobody else needs to connect.
    private static let mode: UInt32 = 0o600

    /// Takes over a socket that systemd passed.
    init(_ socket: consuming PassedSocket) throws(SystemError) {
        let descriptor = Descriptor(adopting: socket.release())
        // It blocks unless the service sets NonBlocking=.
        try descriptor.setNonBlocking()
        raw = descriptor.raw
        passed = consume descriptor
        own = nil
    }

    /// Makes the daemon's own socket.
    init(path: String) throws(SystemError) {
        let listener = try UnixListener(path: path, mode: Self.mode)
        raw = listener.descriptor.raw
        own = consume listener
        passed = nil
    }

    /// Removes the name of the daemon's own socket.
    func removeName() {
        own?.removeName()
    }
}
