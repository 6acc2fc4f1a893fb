import Config
import Model

/// A configuration that `init` has created and not yet written. Errors in it name the flags that the text came from.
struct GeneratedConfiguration {
    private let source: SourceFile

    init(_ source: SourceFile) {
        self.source = source
    }

    /// The flags, by the setting that a line of the text has.
    private static let flags = [
        "path": "--output", "format": "--format", "variable": "--variable", "as": "--as", "group": "--group",
        "mode": "--group", "client_id": "--client-id", "team_id": "--team-id", "key_id": "--key-id", "file": "--key",
        "kind": "--kind", "origin": "--origin", "scope": "--scope", "restart": "--restart", "reload": "--reload",
        "start": "--start", "unit": "--restart", "push": "--push",
    ]

    /// Throws if it is refused, and prints its errors on standard error.
    func check(_ result: Result<LoadedConfiguration, ConfigurationError>) throws(CommandFailure) {
        guard case .failure(let error) = result else { return }
        for line in lines(of: error) { CommandOutput.complain(lines: line) }
        throw CommandFailure(.configuration, "nothing was written")
    }

    /// The errors: those of this text by flag, all others with their place.
    func lines(of error: ConfigurationError) -> [String] {
        error.diagnostics.filter { $0.severity == .error }.map { diagnostic in
            guard diagnostic.position.file == source.name else { return diagnostic.description }
            return flag(at: diagnostic.position.line).map { "\($0): \(diagnostic.message)" } ?? diagnostic.message
        }
    }

    private func flag(at line: Int) -> String? {
        let lines = source.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.indices.contains(line - 1) else { return nil }
        let text = lines[line - 1].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "-") }
        return Self.flags[String(decoding: text.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)]
    }
}
