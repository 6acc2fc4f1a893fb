import AppleClientSecret
import Linux
import Model
import Outputs
import Systemd

/// One connection to the credential socket, and the answer that is sent on it.
///
/// A connection that ends early gives the unit the bytes sent by then as its credential: nothing, or the beginning of a
/// refusal. The daemon cannot reset a Unix socket to which it sent nothing. So a connection that is dropped unanswered is
/// refused first, and a refusal is not ended before it is read. Systemd holds a copy of each connection that waits.
final class CredentialConnection {
    let descriptor: Descriptor
    /// Nil when the peer's address is not one that systemd binds to for a unit.
    let request: CredentialRequest?
    let user: UInt32
    /// When waiting on it ends; nil: when its peer does.
    private(set) var deadline: Deadline?

    /// The events that epoll waits for on it; nil until it is added to epoll.
    var awaited: Readiness?
    private(set) var answer: Answer?
    private var sent = 0

    enum Answer {
        case secret(Secret)
        case refusal
    }

    /// systemd takes less than a mebibyte (CREDENTIAL_SIZE_MAX): the start of a unit that is sent more fails.
    private static let refusalSize = (1 << 20) + refusalPage.count
    /// One line for a user who reads it, then NUL bytes, which a terminal does not show.
    private static let refusalPage: [UInt8] = {
        let line = Array("clientsecretd refuses this credential; its log says why\n".utf8)
        return line + [UInt8](repeating: 0, count: 65_536 - line.count)
    }()

    init(_ descriptor: consuming Descriptor, deadline: Deadline) {
        // An unidentified peer is refused, like all but root.
        user = (try? Peer(of: descriptor.raw).user) ?? .max
        request = (try? Peer.address(of: descriptor.raw)).flatMap { CredentialRequest(address: $0) }
        self.descriptor = descriptor
        self.deadline = deadline
        // An earlier process may have died while it refused: a secret after that would be a part of something else.
        if self.descriptor.isMarked { begin(.refusal, deadline: nil) }
    }

    deinit {
        if answer == nil { refuse() }
    }

    /// Sends a refusal, or the rest of it, and waits for the peer to read it.
    func refuse() {
        begin(.refusal, deadline: nil)
        while push(), Descriptor.waitUntilWritable(descriptor.raw, atMost: CredentialLimits.lastReadingTime) {}
    }

    /// Sets answer and deadline; later calls are ignored.
    func begin(_ answer: Answer, deadline: Deadline?) {
        guard self.answer == nil else { return }
        if case .refusal = answer { descriptor.mark() }
        self.answer = answer
        self.deadline = deadline
    }

    /// Sends as much as the socket takes without blocking. Whether it has to be called again: there is no room now, or no answer
    /// yet. If not, the answer is sent, or the peer has gone.
    func push() -> Bool {
        guard let answer else { return true }
        while let (count, size) = try? sendMore(of: answer) {
            guard count > 0 else { return true }
            sent += count
            if sent == size {
                // systemd may hold a copy: closing would not end the connection.
                descriptor.shutDown()
                return false
            }
        }
        return false
    }

    /// Returns how many bytes were sent now, and how long the answer is.
    private func sendMore(of answer: Answer) throws(SystemError) -> (Int, Int) {
        switch answer {
        case .secret(let secret):
            try secret.token.withBytes { bytes throws(SystemError) in
                (try descriptor.sendNow(bytes[sent...]), bytes.count)
            }
        case .refusal:
            (try descriptor.sendNow(Self.refusalPage[(sent % Self.refusalPage.count)...]), Self.refusalSize)
        }
    }
}
