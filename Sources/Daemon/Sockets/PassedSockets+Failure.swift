import Failures
import Linux
import Model
import SystemPackage
import Systemd

extension PassedSockets {
    /// The socket that systemd passed under this name (`FileDescriptorName=`); nil when it passed none, and the daemon
    /// creates its own.
    ///
    /// - Parameters:
    ///   - path: the required path, if it has to be a Unix socket: the kernel shows the peer's user only for these.
    ///   - code: of the failure if it cannot be used.
    mutating func take(
        _ name: String, at path: String?, failing code: FailureCode
    ) throws(Failure) -> ListeningSocket? {
        let place = Failure.Place.named("the socket \(name) from systemd")
        let remedy = Remedy.say("write ListenStream=\(path ?? "") into its unit")
        let socket: ListeningSocket?
        do throws(SystemError) { socket = try take(name) } catch {
            throw Failure(code, at: place, cause: error.number, remedy: remedy)
        }
        if let socket, path != nil, socket.kind.family != .unix {
            throw Failure(code, at: place, detail: "not a Unix socket", remedy: remedy)
        }
        return socket
    }
}
