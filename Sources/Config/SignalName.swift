internal import Model

/// Signals that can ask a program to read its files again.
package enum SignalName {
    /// Their numbers on Linux, on every architecture that Swift supports.
    package static let numbers: [String: Int32] = [
        "SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGUSR1": 10, "SIGUSR2": 12, "SIGALRM": 14, "SIGTERM": 15,
        "SIGCONT": 18,
        "SIGURG": 23, "SIGVTALRM": 26, "SIGPROF": 27, "SIGWINCH": 28, "SIGIO": 29, "SIGPWR": 30,
    ]

    static func read(_ text: String) throws(ValueError) -> String {
        if numbers[text] != nil { return text }
        let full = "SIG" + text.uppercased()
        let meant = numbers[full] != nil ? full : nearest(to: text, among: numbers.keys.sorted())
        let advice =
            meant.map { "did you mean \"\($0)\"?" } ?? "write SIGHUP, SIGUSR1 or another that a program can act on"
        throw ValueError("\(quoted(text)) is not a signal that can be sent; \(advice)")
    }
}
