/// A file, and the lines that have to be in it.
struct RequiredLines: Equatable {
    var path: String
    var lines: String
    /// Whether it is never shown and only its owner may read it.
    var isSecret = false

    /// The whole text; nil if the file holds the lines already.
    func text(after old: String?) -> String? {
        guard let old, !old.isEmpty else { return lines }
        if ("\n" + old).contains("\n" + lines) { return nil }
        return old + (old.hasSuffix("\n") ? "" : "\n") + lines
    }
}
