/// Collects diagnostics while a configuration is read, so that all mistakes are told at once.
final class Diagnostics {
    /// More than anybody mends in one go; keeps a file of nothing but mistakes from making megabytes of them.
    static let maximum = 500

    private var seen: Set<Diagnostic> = []
    private(set) var errors = 0
    /// Mistakes beyond the maximum, and the first of them.
    private var omitted = 0
    private var firstOmitted: Position?

    /// Whether nothing more is shown, so that no work needs to go into its words.
    var isFull: Bool { seen.count >= Self.maximum }

    func error(at position: Position, _ message: String) {
        errors += 1
        note(Diagnostic(.error, at: position, message))
    }

    func warning(at position: Position, _ message: String) {
        note(Diagnostic(.warning, at: position, message))
    }

    /// Those of the file `main` first, then those of the others by name, then by line and column. What was said twice of
    /// one place stands once.
    func sorted(main: String) -> [Diagnostic] {
        func order(_ diagnostic: Diagnostic) -> (Int, Position, String) {
            (diagnostic.position.file == main ? 0 : 1, diagnostic.position, diagnostic.message)
        }
        var result = seen.sorted { order($0) < order($1) }
        if let firstOmitted {
            result.append(
                Diagnostic(.error, at: firstOmitted, "\(omitted) more mistakes are not shown; mend these first"))
        }
        return result
    }

    private func note(_ diagnostic: Diagnostic) {
        guard !seen.contains(diagnostic) else { return }
        guard !isFull else {
            if diagnostic.severity == .warning { return }
            omitted += 1
            firstOmitted = firstOmitted ?? diagnostic.position
            return
        }
        seen.insert(diagnostic)
    }
}
