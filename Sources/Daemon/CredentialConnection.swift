import AppleClientSecret
import Linux
import Outputs
import Systemd

/// One connection to the credential socket, and the answer on its way.
///
/// One that is closed without a byte gives the unit an empty credential and starts it: a connection that is let go
/// unanswered is refused first.
final class CredentialConnection {
    let descriptor: Descriptor
    /// Nil when it does not come from where systemd asks for a unit.
    let request: CredentialRequest?
    let user: UInt32
    /// When it is given up, by ``Clocks/bootMilliseconds()``.
    var deadline: Int64

    /// What the loop waits for on it; nil before it does.
    var awaited: Readiness?
    private(set) var answer: Answer?
    private var sent = 0

    enum Answer {
        case secret(Secret)
        case refusal
    }

    enum Progress: Hashable {
        case done
        /// It takes nothing more now.
        case blocked
        /// The peer has gone.
        case broken
    }

    /// systemd takes less than a mebibyte (CREDENTIAL_SIZE_MAX) and fails the start of a unit that is given more.
    private static let refusalSize = (1 << 20) + refusalPage.count
    /// A line for whoever looks at it, and nothing more that a terminal shows.
    private static let refusalPage: [UInt8] = {
        let line = Array("clientsecretd refuses this credential; its log says why\n".utf8)
        return line + [UInt8](repeating: 0, count: 65_536 - line.count)
    }()
    /// Milliseconds that a peer may take to read what it is sent when nobody waits for it otherwise.
    private static let lastPatience: Int32 = 200

    init(_ descriptor: consuming Descriptor, deadline: Int64) {
        // Whoever cannot be told is nobody that would be served.
        user = (try? Peer(of: descriptor.raw).user) ?? .max
        request = (try? Peer.address(of: descriptor.raw)).flatMap { CredentialRequest(address: $0) }
        self.deadline = deadline
        self.descriptor = descriptor
    }

    deinit {
        if answer == nil {
            answer = .refusal
            while push() == .blocked, descriptor.waitUntilWritable(atMost: Self.lastPatience) {}
        }
    }

    /// Begins the answer; the first one counts.
    func begin(_ answer: Answer, deadline: Int64) {
        guard self.answer == nil else { return }
        self.answer = answer
        self.deadline = deadline
    }

    /// Sends what the peer takes without waiting.
    func push() -> Progress {
        guard let answer else { return .blocked }
        while true {
            let (count, size): (Int, Int)
            do throws(SystemError) {
                (count, size) = try sendMore(of: answer)
            } catch {
                return .broken
            }
            guard count > 0 else { return .blocked }
            sent += count
            if sent == size {
                // Whoever else holds the connection, the peer sees its end.
                descriptor.shutDown()
                return .done
            }
        }
    }

    /// How many bytes were sent now, and how many there are in all.
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
