import AppleClientSecret
import Daemon
import Failures

/// A client secret for Apple that a running process has.
struct HeldSecret: Hashable, Sendable {
    /// The place in which the process has it.
    enum Place: Hashable, Sendable {
        /// A variable that it was started with.
        case variable(String)
        /// A file of its credentials directory.
        case credential(String)
        /// A file that it has open; one that was deleted or replaced keeps its old content.
        case openFile(String)
    }

    let place: Place
    let fingerprint: Fingerprint
    /// The client that it authenticates, by ``ClientID``'s text; the stated `sub` if that is no client's.
    let client: String?
    /// Nil if it states none.
    let expiresAt: WallTime?

    /// The place in words, such as `the variable APPLE_CLIENT_SECRET`.
    var words: String {
        switch place {
        case .variable(let name): "the variable \(Printable.name(name))"
        case .credential(let name): "the credential \(Printable.name(name))"
        case .openFile(let path): "the open file \(Printable.foreign(path))"
        }
    }
}

extension HeldSecret {
    init(_ secret: ForeignSecret, at place: Place) {
        self.init(
            place: place, fingerprint: secret.fingerprint,
            client: secret.stated.client?.description ?? secret.stated.subject.value,
            expiresAt: secret.expiresAt)
    }
}
