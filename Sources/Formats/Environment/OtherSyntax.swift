/// Files whose lines may look like assignments of an environment file, and are read by other rules.
package enum OtherSyntax {
    private static let endings: Set<Substring> = Set(
        "cfg cjs cs cue go gradle hcl ini java js json json5 jsx kt lua mjs mount nix php pl plist py rb rs service socket tf tfvars timer toml ts tsx xml yaml yml"
            .split(separator: " "))

    private static let shells: Set<ArraySlice<UInt8>> = Set(
        ["sh", "ash", "bash", "dash", "ksh", "mksh", "zsh"].map { Array($0.utf8)[...] })

    /// Whether a file of this name has another syntax by its ending.
    package static func isNamed(_ file: String) -> Bool {
        guard let dot = file.lastIndex(of: "."), dot > file.startIndex else { return false }
        return endings.contains(file[file.index(after: dot)...].lowercased()[...])
    }

    /// Whether the first line names a program that runs the file, and it is no shell.
    static func isNamedInFirstLine(of bytes: [UInt8]) -> Bool {
        guard bytes.starts(with: "#!".utf8) else { return false }
        let words = bytes.dropFirst(2).prefix { !$0.isLineBreak }.split(whereSeparator: \.isEnvironmentSpace)
        let names = words.map { $0.split(separator: UInt8(ascii: "/")).last ?? [] }
        let program = names.first?.elementsEqual("env".utf8) == true ? names.dropFirst().first : names.first
        return program.map { !shells.contains($0) } ?? false
    }
}
