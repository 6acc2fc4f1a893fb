import Failures
import Linux
import Model
import SystemPackage
import Systemd

extension PassedSockets {
    /// The socket that systemd passed under this name (`FileDescriptorName=`); nil when it passed none, and the daemon
    /// makes its own. Throws ``Failure/Code/socketUnusable``.
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
