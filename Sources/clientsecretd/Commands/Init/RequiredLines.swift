/// A file, and the lines that have to be in it.
struct RequiredLines: Equatable {
    var path: String
    var lines: String
    /// Whether it is never shown and only its owner may read it.
    var isSecret = false
    /// Of a unit that reads a secret, the lines by which the configuration gives it one; nil for another file.
    var given: Set<String>?

    /// The whole text; nil if the file holds the lines already.
    func text(after old: String?) -> String? {
        guard let old, !old.isEmpty else { return lines }
        let kept = split(old).kept
        if ("\n" + kept).contains("\n" + lines) { return kept == old ? nil : kept }
        return kept + (kept.isEmpty || kept.hasSuffix("\n") ? "" : "\n") + lines
    }

    /// The lines of a unit that an earlier `init` wrote and that give it nothing now.
    func former(in old: String) -> [String] { split(old).former }

    /// Only lines exactly as `init` writes them count, because a person may have added lines to the section.
    private func split(_ old: String) -> (kept: String, former: [String]) {
        guard let given else { return (old, []) }
        var kept = ""
        var former: [String] = []
        var rest = old[...]
        while let range = rest.firstRange(of: SystemFiles.order + "\n[Service]\n") {
            let line = rest[range.upperBound...].prefix { $0 != "\n" }
            let end = rest.index(line.endIndex, offsetBy: 1, limitedBy: rest.endIndex) ?? rest.endIndex
            let begins = (kept + rest[..<range.lowerBound]).last.map { $0 == "\n" } ?? true
            let isOnly = rest[end...].first.map { $0 == "[" } ?? true
            let isReader = ["EnvironmentFile=", "LoadCredential="].contains { line.hasPrefix($0) }
            let isKept = !begins || !isOnly || !isReader || given.contains(String(line))
            kept += rest[..<(isKept ? end : range.lowerBound)]
            if !isKept { former.append(String(line)) }
            rest = rest[end...]
        }
        return (kept + rest, former)
    }
}
