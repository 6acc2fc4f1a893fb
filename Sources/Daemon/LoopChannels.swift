import Linux
import Rotation

/// Other threads report news to the loop here, and the loop ends their waits.
struct LoopChannels: Sendable {
    /// Inputs that the core is to handle.
    let inbox: Inbox<Input>
    /// Which links lead to a file, and where it really is: for the watcher.
    let findings: Inbox<Watcher.Finding>
    /// Raised when the daemon stops.
    let cancel: EventCounter

    init() throws(SystemError) {
        inbox = try Inbox()
        findings = try Inbox()
        cancel = try EventCounter()
    }
}
