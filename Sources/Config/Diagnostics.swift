internal import Failures

/// Collects diagnostics while a configuration is read, so that all errors are reported at once.
final class Diagnostics {
    /// More than a user fixes in one go; bounds the output for a file of nothing but errors.
    static let maximum = 500

    private var seen: Set<Diagnostic> = []
    private(set) var errors = 0
    /// The errors beyond the maximum: their number, and the first one's position.
    private var omitted = 0
    private var firstOmitted: Position?

    /// Whether further errors are only counted, so that their messages need no work.
    var isFull: Bool { seen.count >= Self.maximum }

    func error(at position: Position, _ message: String, remedy: Remedy? = nil) {
        errors += 1
        note(Diagnostic(.error, at: position, message, remedy: remedy))
    }

    func warning(at position: Position, _ message: String) {
        note(Diagnostic(.warning, at: position, message))
    }

    /// The first item of each id; each later one is reported at the place of its id.
    ///
    /// - Parameter message: gets the item, the first one, and where that is.
    @discardableResult func withoutRepetitions<Item, ID: Hashable>(
        _ items: [Item], by id: (Item) -> Located<ID>,
        _ message: (_ item: Item, _ first: Item, _ place: String) -> String
    ) -> [Item] {
        var firsts: [ID: (item: Item, position: Position)] = [:]
        return items.filter { item in
            let id = id(item)
            guard let first = firsts[id.value] else {
                firsts[id.value] = (item, id.position)
                return true
            }
            error(at: id.position, message(item, first.item, first.position.seen(from: id.position)))
            return false
        }
    }

    /// The diagnostics of the file `main` first, then those of the others by name, each by line and column, without
    /// duplicates.
    func sorted(main: String) -> [Diagnostic] {
        func order(_ diagnostic: Diagnostic) -> (Int, Position, String) {
            (diagnostic.position.file == main ? 0 : 1, diagnostic.position, diagnostic.message)
        }
        var result = seen.sorted { order($0) < order($1) }
        if let firstOmitted {
            result.append(
                Diagnostic(.error, at: firstOmitted, "\(omitted) more errors are not shown; fix these first"))
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
