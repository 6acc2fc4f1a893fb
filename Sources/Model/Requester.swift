/// The process that makes a request, as the kernel reports it.
package struct Requester: Hashable, Sendable {
    package var user: UInt32
    /// Nil for a process in another PID namespace.
    package var process: Int32?
    /// The process's own name for itself, without control characters; nil if it cannot be read.
    package var command: String?

    package init(user: UInt32, process: Int32?, command: String?) {
        self.user = user
        self.process = process
        self.command = command
    }
}
