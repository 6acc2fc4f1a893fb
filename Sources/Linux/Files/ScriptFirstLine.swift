internal import AppleClientSecret

/// A script's first line.
struct ScriptFirstLine {
    /// Absolute: a program is started in the directory `/`.
    let interpreter: String
    /// All that follows it: one argument, whatever blanks are in it.
    private let argument: String
    let endsInCarriageReturn: Bool

    /// Nil where the file does not begin with `#!`.
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

    /// What `env` starts, however it is called: with its options and variables before the name.
    var startedByEnv: String? {
        guard let wantedFromEnv else {
            guard interpreter.hasSuffix("/env"), argument.hasPrefix("-") else { return nil }
            let words = argument.split(separator: " ").drop { $0.hasPrefix("-") || $0.contains("=") }
            return words.first.map { String($0.filter { $0 != "\"" && $0 != "'" }) }
        }
        return wantedFromEnv
    }

    /// What `env` is to find; nil where it is not used, or used in another way.
    var wantedFromEnv: String? {
        guard interpreter.hasSuffix("/env"), !argument.isEmpty else { return nil }
        guard argument.hasPrefix("-") else { return argument.contains("=") ? nil : argument }
        let words = argument.split(separator: " ")
        guard words.count > 1, words[0] == "-S", !words[1].hasPrefix("-"), !words[1].contains("=") else { return nil }
        return String(words[1])
    }
}
