import Config
import Model

// A configuration that `init` has created and not yet written. Errors in it name the flags that the text came from.
extension ConfigurationError {
    /// The flags, by the setting that a line of the text has.
    private static let flags = [
        "path": "--output", "format": "--format", "variable": "--variable", "as": "--as", "group": "--group",
        "mode": "--group", "client_id": "--client-id", "team_id": "--team-id", "key_id": "--key-id", "file": "--key",
        "kind": "--kind", "origin": "--origin", "scope": "--scope", "restart": "--restart", "reload": "--reload",
        "start": "--start", "unit": "--restart", "push": "--push",
    ]

    /// The errors: those of a text that was created by flag, all others with their place.
    func lines(ofGenerated source: SourceFile) -> [String] {
        diagnostics.filter { $0.severity == .error }.map { diagnostic in
            guard diagnostic.position.file == source.name else { return diagnostic.description }
            let flag = Self.flag(at: diagnostic.position.line, of: source)
            return flag.map { "\($0): \(diagnostic.message)" } ?? diagnostic.message
        }
    }

    private static func flag(at line: Int, of source: SourceFile) -> String? {
        let lines = source.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.indices.contains(line - 1) else { return nil }
        let text = lines[line - 1].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "-") }
        return flags[String(decoding: text.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)]
    }
}
