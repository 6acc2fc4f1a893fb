import AppleClientSecret
import Failures
import Glibc
import Linux
import Outputs
import Rotation
import SignIn
import SystemPackage

/// The daemon's client of the service that asks Apple whether it accepts a secret: one connection for each question, a
/// request and a verdict. The service has a network and another user, so its words are shown with care.
struct Verifier: Sendable {
    private let socket: String
    private let identity: Identity
    private let cancel: EventCounter?
    private let patience: Int64

    /// In seconds: a local connection waits only when many others do.
    private static let connecting: Int64 = 10
    /// In bytes; a verdict has a few hundred.
    private static let longestAnswer = 16_384

    /// - Parameters:
    ///   - status: the daemon's status socket; the service's lies beside it.
    ///   - identity: the daemon's user.
    ///   - cancel: ends every question when raised.
    ///   - patience: in milliseconds. The service gives up 30 s after the request, and is started for it.
    init(besideSocket status: String, identity: Identity, cancel: EventCounter?, patience: Int64 = 45_000) {
        socket = (status.lastIndex(of: "/").map { String(status[..<$0]) } ?? ".") + "/verify.sock"
        self.identity = identity
        self.cancel = cancel
        self.patience = patience
    }

    /// Returns when Apple accepts the secret. Blocks.
    func verify(_ secret: Secret, of client: ClientName) throws(Failure) {
        let verdict = try ask(
            SecretTrial(clientID: secret.issued.client, secret: secret.token).request, about: client)
        switch verdict.outcome {
        case .accepted: return
        case .refused:
            throw Failure(.refusedByApple, at: .client(client), detail: Self.plain(verdict.code ?? "refused"))
        case .unknown:
            throw Failure(
                .verdictUnknown, at: .client(client), detail: Self.plain(verdict.detail ?? verdict.reason ?? ""))
        }
    }

    /// What keeps it from being asked about a client at all: there is no socket. Asks nothing, not even whether somebody
    /// listens, because each connection starts the service.
    func obstacle(for client: ClientName) -> Failure? {
        guard unsafe access(socket, F_OK) != 0, errno == ENOENT else { return nil }
        return Failure(.verifierMissing, at: .client(client), cause: ENOENT, detail: socket)
    }

    private func ask(_ request: [UInt8], about client: ClientName) throws(Failure) -> Verdict {
        let stream: UnixStream
        do {
            stream = try UnixStream.connect(to: socket, timeoutSeconds: Self.connecting)
        } catch {
            throw Failure(.verifierMissing, at: .client(client), cause: error.errno.rawValue, detail: socket)
        }
        let timed = TimedStream(stream, milliseconds: patience, cancel: cancel)
        // The listener is given a secret: the kernel says which user began to listen, as a rule systemd's.
        guard let peer = try? timed.peer(), identity.trusts(peer.user) else {
            throw Failure(
                .verifierMissing, at: .client(client), detail: "\(socket) is not root's", remedy: .othersFile(socket))
        }
        let answer: [UInt8]
        do {
            // A service that takes no question closes before reading one.
            try? timed.write(request + [UInt8(ascii: "\n")])
            answer = try timed.read(exactly: Self.longestAnswer + 1)
        } catch {
            throw Failure(.verifierSilent, at: .client(client), cause: error.errno.rawValue)
        }
        guard !answer.isEmpty else {
            throw Failure(.verifierSilent, at: .client(client), cause: Errno.connectionReset.rawValue)
        }
        guard answer.count <= Self.longestAnswer, let verdict = Verdict(answer: answer) else {
            throw Failure(.verifierSilent, at: .client(client), detail: "it is no verdict")
        }
        return verdict
    }

    /// Words that the service or a server chose: short, on one line, and without what looks like advice.
    private static func plain(_ text: String) -> String {
        Redaction.plain(Printable.clause(String(String.UnicodeScalarView(text.unicodeScalars.prefix(300)))))
    }
}
