import Failures
import Linux
import Rotation
import SystemPackage
import Systemd

extension PassedSockets {
    /// The socket of that name (`FileDescriptorName=`) for a listener of the daemon's; nil when systemd passed none, and
    /// the daemon makes one of its own. What is wrong with it is ``Rotation/Failure/Code/socketUnusable``.
    mutating func socket(_ name: String) throws(Failure) -> PassedSocket? {
        do {
            return try take(name)
        } catch {
            throw Failure(
                .socketUnusable, at: .named("the socket \(name) from systemd"), cause: error.errno.rawValue,
                remedy: .say("write ListenStream= into its unit"))
        }
    }
}
