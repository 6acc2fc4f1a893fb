import Daemon
import Failures
import Linux

/// Whether applications read something else than the outputs.
extension ChainFacts {
    /// A hidden output is harmless if a process is seen to hold the current secret anyway. A start since then shows only that it
    /// has read something.
    var hiddenLink: ChainLink {
        guard let first = hidden.first(where: { $0.unit == nil }) else {
            guard let shortfall else { return ChainLink(.hidden, .ok, "nothing hides it") }
            return ChainLink(.hidden, .unknown, "\(shortfall), so not everything was looked at")
        }
        let line = first.line.map { ":\($0)" } ?? ""
        let place = "\(Printable.name(first.file))\(line)"
        guard processLink.state == .ok, !holders.isEmpty else {
            return ChainLink(.hidden, .broken, "\(place): \(first.words)", first.remedy)
        }
        return ChainLink(.hidden, .warning, "\(place): \(first.words)" + (first.remedy.map { "; \($0)" } ?? ""))
    }
}
