import CLinux
import Glibc

/// Living descendants of one child, held by descriptor so that no number can come to mean a stranger.
struct HeldProcesses: ~Copyable {
    let pidfds: [Int32]

    var isEmpty: Bool { pidfds.isEmpty }

    /// Finds those that carry the child's mark and sends each the signal.
    init(mark: UInt64, signal: Int32, capacity: Int) {
        var pidfds = [Int32](repeating: -1, count: capacity)
        let count = unsafe clinux_marked_signal(mark, signal, &pidfds, Int32(capacity))
        self.pidfds = Array(pidfds.prefix(Int(count)))
    }

    deinit {
        for pidfd in pidfds { _ = close(pidfd) }
    }
}
