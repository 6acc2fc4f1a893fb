internal import AppleClientSecret

/// A script's first line.
struct ScriptFirstLine {
    /// Absolute: a program is started in the directory `/`.
    let interpreter: String
    /// All that follows it: one argument, with any blanks in it.
    let argument: String
    let endsInCarriageReturn: Bool

    /// Nil if the file does not begin with `#!`.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: "#!".utf8) else { return nil }
        var line = bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
        endsInCarriageReturn = line.last == UInt8(ascii: "\r")
        if endsInCarriageReturn { line.removeLast() }
        let isBlank: (UInt8) -> Bool = { $0.isASCIIBlank || $0 == 0 }
        let words = line.drop(while: isBlank)
        let name = String(decoding: words.prefix { !isBlank($0) }, as: UTF8.self)
        interpreter = name.isEmpty || name.hasPrefix("/") ? name : "/" + name
        argument = String(
            decoding: words.drop { !isBlank($0) }.drop(while: isBlank).reversed().drop(while: isBlank).reversed(),
            as: UTF8.self)
    }

    /// The program that `env` starts, in every form of the call: with its options and variables before the name. Nil if it is not
    /// used, or starts none.
    var startedByEnv: String? {
        guard interpreter.hasSuffix("/env"), !argument.isEmpty else { return nil }
        guard argument.hasPrefix("-") else { return argument.contains("=") ? nil : argument }
        let words = argument.split { $0 == " " || $0 == "\t" }
        return Self.program(in: words).map { String($0.filter { $0 != "\"" && $0 != "'" }) }
    }

    /// The name among the words for `env` (env(1)); nil if there is none.
    private static func program(in all: [Substring]) -> Substring? {
        var words = all[...]
        while let word = words.popFirst() {
            if word.hasPrefix("--") {
                let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if parts[0] == "--split-string", parts.count == 2 {
                    words.insert(parts[1], at: words.startIndex)
                } else if parts.count == 1, ["--unset", "--chdir", "--argv0"].contains(parts[0]) {
                    _ = words.popFirst()
                }
            } else if word.hasPrefix("-") {
                // Letters without a value may come before the one that has it, with its value or before that.
                guard let option = word.firstIndex(where: { "uCaS".contains($0) }) else { continue }
                let value = word[word.index(after: option)...]
                if word[option] != "S" {
                    if value.isEmpty { _ = words.popFirst() }
                } else if !value.isEmpty {
                    words.insert(value, at: words.startIndex)
                }
            } else if !word.contains("=") {
                return word
            }
        }
        return nil
    }
}
