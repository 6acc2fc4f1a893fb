/// Lines of a unit file, and of tmpfiles.d, that set a path with any characters in it (systemd.syntax(7)). A `%` begins a
/// specifier in all of them; the rest differs.
package enum UnitFileLine {
    /// A list of paths, such as `ReadWritePaths=` and `BindPaths=` (systemd.exec(5)): words in which quotes and backslashes have a
    /// meaning, and in `BindPaths=` colons.
    ///
    /// - Parameter isOptional: whether the unit starts while the path is missing.
    package static func paths(_ name: String, _ path: String, isOptional: Bool = true) -> String {
        "\(name)=\(word((isOptional ? "-" : "") + plain(path)))"
    }

    /// A directory that systemd makes at every boot (tmpfiles.d(5)): words as in a list of paths.
    package static func directory(_ path: String, mode: String, owner: String, group: String) -> String {
        "d \(word(plain(path))) \(mode) \(word(plain(owner))) \(word(plain(group)))"
    }

    /// `SupplementaryGroups=`, which adds to the groups of the account database.
    package static func supplementaryGroup(_ group: String) -> String { "SupplementaryGroups=\(word(plain(group)))" }

    private static func word(_ text: String) -> String {
        let isWord = !text.utf8.contains { $0 <= 32 || #""'\;:#"#.utf8.contains($0) }
        if isWord { return text }
        let quoted = text.map { #""\"#.contains($0) ? #"\"# + String($0) : String($0) }.joined()
        return "\"\(quoted)\""
    }

    /// `EnvironmentFile=`: the whole value is one path with wildcards (glob(7)), and blanks at its end do not count.
    package static func environmentFile(_ path: String) -> String {
        let end = path.lastIndex { $0 != " " }.map { path.index(after: $0) } ?? path.startIndex
        let escaped = plain(String(path[..<end])).map { #"*?[\"#.contains($0) ? #"\"# + String($0) : String($0) }
        return "EnvironmentFile=" + escaped.joined() + path[end...].map { "[\($0)]" }.joined()
    }

    /// The socket on which the package's daemon serves secrets as credentials.
    package static let credentialSocket = "/run/clientsecretd/credentials.sock"

    /// `LoadCredential=`: the text after the name is one path.
    package static func loadCredential(_ name: String, from path: String = credentialSocket) -> String {
        "LoadCredential=\(plain(name)):\(plain(path))"
    }

    /// Without specifiers.
    private static func plain(_ text: String) -> String {
        text.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
    }
}
