internal import Failures

/// Common code of the daemon's clients of this machine's services. Each gets secrets over a socket whose path follows from that
/// of the status socket.
package enum LocalService {
    /// In seconds, until connected: a local connection waits only when a hundred others do.
    package static let connecting: Int64 = 10

    /// The path of a socket or directory next to a socket.
    package static func path(_ name: String, nextTo socket: String) -> String {
        (socket.lastIndex(of: "/").map { String(socket[...$0]) } ?? "./") + name
    }

    /// Throws unless root or the acting user listens. The kernel reports the user that began to listen: usually root, on behalf
    /// of systemd.
    ///
    /// - Parameters:
    ///   - peer: nil if the kernel does not say.
    ///   - socket: its path.
    package static func checkListener(_ peer: Peer?, at socket: String, as identity: Identity) throws(FileError) {
        guard let peer, identity.trusts(peer.user) else {
            throw FileError(
                .notGuarded, at: socket, detail: "\(socket) does not belong to root", remedy: .strangers(socket))
        }
    }
}
