import Linux
import Rotation

/// How other threads tell the loop what is new, and the loop ends what they wait for.
struct LoopChannels: Sendable {
    /// What the core is to handle.
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
