import Model

@testable import Config

/// What the parser says of a configuration called `c.yaml` that lies in `/etc`, and of additions to it.
func diagnose(_ text: String, additions: [(name: String, text: String)] = []) -> [String] {
    switch parse(text, additions: additions) {
    case .success(let loaded): loaded.warnings.map(\.description)
    case .failure(let error): error.diagnostics.map(\.description)
    }
}

func parse(
    _ text: String, additions: [(name: String, text: String)] = [], stateDirectory: AbsolutePath? = nil
) -> Result<LoadedConfiguration, ConfigurationError> {
    func source(_ name: String, _ text: String) -> SourceFile? {
        AbsolutePath("/etc/" + name).map { SourceFile(name: name, path: $0, bytes: Array(text.utf8)) }
    }
    guard let main = source("c.yaml", text) else { return .failure(ConfigurationError(diagnostics: [])) }
    return ConfigurationParser.parse(
        main: main, additions: additions.compactMap { source("c.d/" + $0.name, $0.text) },
        stateDirectory: stateDirectory)
}

extension Result where Failure == ConfigurationError {
    /// Why a configuration is refused; nil if it is accepted.
    var refusal: ConfigurationError? { if case .failure(let error) = self { error } else { nil } }
}

/// A configuration with something wrong in it and what is said of it: blocks of `## title`, text, `->`, lines.
///
/// In the text `@keys` stands for one good key in one line, `@public` for a public key, `@out` for one good output.
struct ErrorCase: CustomStringConvertible, Sendable {
    let description: String
    let text: String
    let lines: [String]

    static func read(_ table: String) -> [ErrorCase] {
        var cases: [ErrorCase] = []
        for block in ("\n" + table).split(separator: "\n## ", omittingEmptySubsequences: true) {
            let parts = ("\n" + block + "\n").split(separator: "\n->", maxSplits: 1, omittingEmptySubsequences: false)
            let lines = parts[0].split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
            let text = lines.dropFirst().joined(separator: "\n")
                .replacingMacro("@keys", "keys: {apple: {team_id: DEF123GHIJ, file: /etc/k/AuthKey_ABC123DEFG.p8}}")
                .replacingMacro("@out", "outputs: [{path: /run/x}]")
                .replacingMacro("@public", SourceSettingsTests.publicKey)
                .replacingMacro("@tab", "\t")
            let said = parts.count > 1 ? parts[1].split(separator: "\n").map(String.init) : []
            cases.append(ErrorCase(description: String(lines.first ?? ""), text: text + "\n", lines: said))
        }
        return cases
    }
}

extension String {
    fileprivate func replacingMacro(_ name: String, _ value: String) -> String {
        split(separator: name, omittingEmptySubsequences: false).joined(separator: value)
    }
}
