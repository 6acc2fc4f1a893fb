import Daemon
import Failures
import Linux
import Model

/// Whether applications read something else than the outputs.
extension ChainFacts {
    /// A hidden output is harmless if a process is seen to hold the current secret anyway. A start since then shows only that it
    /// has read something.
    var hiddenLink: ChainLink {
        let found = hidden.filter { $0.unit == nil }
        guard let first = found.first(where: \.isKnown) ?? found.first else {
            guard let shortfall else { return ChainLink(.hidden, .ok, nothingHidden) }
            return ChainLink(.hidden, .unknown, "\(shortfall), so not everything was looked at")
        }
        let line = first.line.map { ":\($0)" } ?? ""
        let place = "\(Printable.name(first.file))\(line)"
        guard !first.isKnown || processLink.state == .ok && !holders.isEmpty else {
            return ChainLink(.hidden, .broken, "\(place): \(first.words)", first.remedy)
        }
        return ChainLink(.hidden, .warning, "\(place): \(first.words)" + (first.remedy.map { "; \($0)" } ?? ""))
    }

    private var nothingHidden: String {
        let paths = Set(client.outputs.map(\.path)).sorted()
        guard let first = paths.first else { return "it has no file that something could hide" }
        return "nothing hides \(Printable.name(first.description))"
            + (paths.count > 1 ? " and \(paths.count - 1) more" : "")
    }
}
