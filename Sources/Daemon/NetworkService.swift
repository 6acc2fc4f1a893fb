import Failures
import Glibc
import Linux
import Rotation
import SystemPackage

/// The daemon's side of a service that has a network: one connection for each request, a line and an answer. The service
/// runs as another user, so who listens is checked before it is given a secret, and its words go through ``Redaction/foreign(_:)``.
struct NetworkService: Sendable {
    /// What it is when nothing listens that may be given a secret.
    let missing: FailureCode
    /// What it is when no answer comes, or something else than one.
    let silent: FailureCode
    /// The daemon's user.
    let identity: Identity
    /// Ends every request when raised.
    let cancel: EventCounter?
    /// In milliseconds, from the connection to the end of the answer.
    let patience: Int64

    /// In seconds: a local connection waits only when many others do.
    static let connecting: Int64 = 10
    /// In bytes; an answer has a few hundred.
    private static let longestAnswer = 16_384

    /// The path of a service's socket.
    ///
    /// - Parameters:
    ///   - name: below the directory of the daemon's sockets.
    ///   - status: the daemon's status socket.
    static func path(_ name: String, besideSocket status: String) -> String {
        (status.lastIndex(of: "/").map { String(status[..<$0]) } ?? ".") + "/" + name
    }

    /// Why nothing could be asked, as far as can be seen without asking, for each connection starts the service: nil where
    /// there is a socket, or its directory may not be searched.
    func obstacle(at path: String, for place: Failure.Place) -> Failure? {
        guard unsafe access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR else { return nil }
        return Failure(missing, at: place, cause: errno, detail: path)
    }

    /// Throws unless root or the daemon's user listens: the kernel says who began to, as a rule systemd's root.
    func checkListener(_ peer: Peer?, at path: String, for place: Failure.Place) throws(Failure) {
        guard let peer, identity.trusts(peer.user) else {
            throw Failure(missing, at: place, detail: "\(path) is not root's", remedy: .othersFile(path))
        }
    }

    /// Sends a request and reads the answer. Blocks.
    ///
    /// - Parameters:
    ///   - place: what a failure is reported for.
    ///   - nonsense: said where `read` makes nothing of the answer.
    ///   - read: makes something of the answer, or nil.
    func ask<Answer>(
        _ request: [UInt8], at path: String, for place: Failure.Place, otherwise nonsense: String,
        read: ([UInt8]) -> Answer?
    ) throws(Failure) -> Answer {
        let stream: UnixStream
        do {
            stream = try UnixStream.connect(to: path, timeoutSeconds: Self.connecting)
        } catch {
            throw Failure(missing, at: place, cause: error.errno.rawValue, detail: path)
        }
        let timed = TimedStream(stream, milliseconds: patience, cancel: cancel)
        try checkListener(try? timed.peer(), at: path, for: place)
        let answer: [UInt8]
        do {
            // A service that takes no request closes before reading one.
            try? timed.write(request + [UInt8(ascii: "\n")])
            answer = try timed.read(exactly: Self.longestAnswer + 1)
        } catch {
            throw Failure(silent, at: place, cause: error.errno.rawValue)
        }
        guard !answer.isEmpty else { throw Failure(silent, at: place, cause: Errno.connectionReset.rawValue) }
        guard answer.count <= Self.longestAnswer, let answer = read(answer) else {
            throw Failure(silent, at: place, detail: nonsense)
        }
        return answer
    }
}
