import Failures
import Linux
import Model

/// The callers of a user writer: only root and the daemon's user may ask it.
enum UserWriterCaller {
    /// Throws ``Failure/Code/writerNotPermitted`` unless one of them is at the other end.
    ///
    /// - Parameter place: the place that the failure names.
    static func require(
        _ daemonUser: String, on stream: borrowing UnixStream, at place: Failure.Place
    ) throws(Failure) {
        let peer: Peer
        do {
            peer = try stream.peer()
        } catch {
            throw Failure(.writerNotPermitted, at: place, cause: error.number)
        }
        guard peer.user == 0 || peer.user != Accounts.overflowID && peer.user == (try? Accounts.userID(daemonUser))
        else {
            throw Failure(.writerNotPermitted, at: place, detail: "user \(peer.user)")
        }
    }
}
