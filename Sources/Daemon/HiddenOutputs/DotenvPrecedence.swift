/// The names of environment files that one application reads together.
package enum DotenvPrecedence {
    /// Endings of files that no application reads, or only its tests do, or that give the defaults.
    private static let inert: Set<Substring> = Set(
        "age asc backup bak ci default defaults dist enc example gpg keys me old orig php sample save schema swp template test tmp tmpl vault"
            .split(separator: " "))

    /// Whether applications that read both prefer `name`: `.env.MODE.local`, then `.env.local`, `.env.MODE`, `.env`.
    package static func takesPrecedence(_ name: String, over other: String) -> Bool {
        guard let one = parts(of: name), let two = parts(of: other), one != two else { return false }
        if let mode = one.mode, let otherMode = two.mode, mode != otherMode { return false }
        return rank(one) > rank(two)
    }

    /// Whether an application may read it so; false for backups, examples and the like.
    package static func isOne(_ name: String) -> Bool { parts(of: name) != nil }

    /// Whether its mode is one that frameworks have by themselves.
    static func isUsual(_ name: String) -> Bool {
        guard let parts = parts(of: name) else { return false }
        return parts.mode.map(usual.contains) ?? true
    }

    private static let usual: Set<Substring> = Set(
        "dev development live local prod production stage staging".split(separator: " "))

    private struct Parts: Hashable {
        let mode: Substring?
        let isLocal: Bool
    }

    private static func rank(_ parts: Parts) -> Int { (parts.isLocal ? 2 : 0) + (parts.mode == nil ? 0 : 1) }

    /// Nil for a file that is none of these.
    private static func parts(of name: String) -> Parts? {
        guard name == ".env" || name.hasPrefix(".env.") else { return nil }
        var words = name.split(separator: ".", omittingEmptySubsequences: false)[2...]
        guard words.count <= 2,
            words.allSatisfy({ !$0.isEmpty && !inert.contains($0) && !$0.hasSuffix("~") && $0.first?.isNumber != true })
        else { return nil }
        let isLocal = words.last == "local"
        if isLocal { words.removeLast() }
        return words.count > 1 ? nil : Parts(mode: words.first, isLocal: isLocal)
    }
}
