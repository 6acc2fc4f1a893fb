/// An environment file as somebody might have written it, made from a seed.
struct EnvironmentSample {
    /// What is written into it.
    enum Style: CaseIterable {
        /// What docker reads: one variable to a line and comments with `#`.
        case plain
        /// What systemd, shells and dotenv libraries read alike.
        case common
        /// What some reader refuses or takes otherwise.
        case loose
        /// Pieces of syntax in any order.
        case noise
    }

    let style: Style
    private(set) var bytes: [UInt8]
    /// Whether there is a value that a shell takes for a file to read from.
    private(set) var redirects = false

    init(style: Style, using random: inout some RandomNumberGenerator) {
        self.style = style
        bytes = []
        if style == .noise {
            bytes = Array(Self.noise(&random).utf8)
            return
        }
        let lineBreak = style != .loose && Int.random(in: 0..<4, using: &random) == 0 ? "\r\n" : "\n"
        var text = ""
        let count = Int.random(in: 0..<7, using: &random)
        for number in 0..<count {
            if Int.random(in: 0..<3, using: &random) == 0 {
                text += secret(&random) + lineBreak
            } else {
                text +=
                    other(number, &random).split(separator: "\n", omittingEmptySubsequences: false)
                    .joined(separator: lineBreak) + lineBreak
            }
        }
        if Int.random(in: 0..<4, using: &random) == 0 { text.removeLast(text.isEmpty ? 0 : 1) }
        bytes = Array(text.utf8)
    }

    private mutating func secret(_ random: inout some RandomNumberGenerator) -> String {
        let plain = [
            "SECRET=", "SECRET=old", "SECRET=old.value-1", "  SECRET=old", "SECRET=<your secret>", "SECRET=a=b",
        ]
        let common = [
            "SECRET='old'", "SECRET=\"old\"", "SECRET='ol\nd x\n'", "SECRET=\"\"",
            "\tSECRET=old   ", "SECRET=old # it's a note", "SECRET=\"old\" # note=1", "SECRET=it\\'s",
        ]
        let exported = ["export SECRET=old", "  export  SECRET='old'", "export SECRET="]
        let loose = [
            "SECRET = old", "SECRET= \"old\"", "SECRET=old \\\nmore", "SECRET=two words",
            "SECRET=\"a \\\"b\\\"\nSECRET=c\"",
            "SECRET=\"old", "SECRET='old", "SECRET=a;b&c", "SECRET=${X:=y}", "SECRET=\"a\"b", "SECRET=`x`",
            "export 'SECRET=old'", "export \"SECRET=old\"", "set -a; SECRET=old; set +a", "SECRET='ol\nd=x\n'",
            "[ -n x ] && SECRET=old", "if true; then SECRET=old; fi", "case x in x) SECRET=old ;; esac",
            "f() { SECRET=old; }; f", "SECRET=old; export SECRET",
            "true && {\nSECRET=old\n}", "{\nSECRET=old\n} | :", "{ SECRET=old; } | :", "( SECRET=old )",
            "command unset SECRET",
            ": $((SECRET=5))", "f() { SECRET=old; }", "g() { f; }", "f", "g", "read SECRET", "read SEC\\\nRET",
            "unset SECRET",
            "export {V9,SECRET}=old", "declare -i SECRET", "trap 'SECRET=old' DEBUG", "eval 'SECRET=old'",
            "eval \"$V1\"",
            "printf -v SECRET old", "mapfile SECRET", "for SECRET in a b; do :; done", ": ${SECRET:=old}",
            "SECRET=old ||\n:",
            "SECRET=old &&\n:", ". /dev/stdin <<E\nSECRET=old\nE", "getopts a SECRET",
            "SECRET=(old)", "SECRET+=old", "{ SECRET=old; } &", "if SECRET=old; then :; fi",
        ]
        var choices = plain
        if style != .plain { choices += common + exported }
        if style == .loose { choices += loose }
        let choice = choices.randomElement(using: &random) ?? ""
        if choice.contains("<") { redirects = true }
        return choice
    }

    private func other(_ number: Int, _ random: inout some RandomNumberGenerator) -> String {
        let name = "V\(number)"
        let plain = [
            "", "# a note", "#SECRET=old", "# it's \"quoted", "\(name)=x", "\(name)=", "\(name)=http://h:1/p?q",
            "\(name)=\u{e9}", "SECRET_TOO=x", "NO_SECRET=x", "  \(name)=x",
        ]
        let common = [
            "\(name)='single'", "\(name)=\"double \\\"x\\\"\"", "\(name)='a\nSECRET=hidden\nb'", "export \(name)=x",
            "\(name)=\"a\nSECRET=hidden\n# x\"", "\(name)=x # note", "\(name)='a # b'", "\(name)=\"it's\"",
            "\(name)='say \"x\"'", "export \(name)='y z'",
        ]
        let loose = [
            "\(name) = x", "\(name)=a b", "; a note", ";SECRET=old", "some words", "\(name)=x \\\ny",
            "\(name)=\"x \\\ny\"",
            "\(name)='a\\", "\(name)=it's", "# C:\\", "\(name)=\"postgres://u:p@h/d\"", "\(name)=x&", "\(name)=x|",
            "\(name)=a(b", "\(name)=x)", "\(name)=\"x\\\\\"", "\(name)=x;y", "# don't",
            "export '\(name)=x'", "false && \(name)=x",
            "\(name)=x; export \(name)", "export \(name)=x \(name)B=y", "declare -x \(name)=\"x\"",
            "case x in\n(a|x) \(name)=x ;;\nesac",
            "if false; then\n\(name)=x\nfi", "\(name)='SECRET=old'", "\(name)=SECRET", "alias \(name)=:", "set -a",
            "\(name)=$(:)", "\(name)=`: ')'`", "case x in\n(x) \(name)=x ;;\nesac", "readonly \(name)",
            "\(name)=$((1+1))",
            "while :; do\n\(name)=x; break\ndone", "{\n\(name)=x\n}", "source /dev/null", ": <<'E'\nit's\nE",
            "[ -n \"\" ] || export \"\(name)=x\"",
        ]
        var choices = plain
        if style != .plain { choices += common }
        if style == .loose { choices += loose }
        return choices.randomElement(using: &random) ?? ""
    }

    private static func noise(_ random: inout some RandomNumberGenerator) -> String {
        let pieces = [
            "SECRET", "=", "\n", "SECRET=", "\nSECRET=old\n", "'", "\"", "\\", " ", "#", ";", "\r", "\r\n", "A=", "B=x",
            "\nC=", "export ", "\t", "x", "&", "|", "(", ")", "<<", "$(", "$'", "`", "\u{feff}", "\\'", "\\\"", "=",
            "\u{a0}", "\u{85}", "\u{2003}", "\u{2028}", "\u{b}", "\u{c}", "\u{1c}", "\\\n", "let ", "eval ", "unset ",
            "readonly ", "printf -v ",
        ]
        var text = Int.random(in: 0..<20, using: &random) == 0 ? "\u{feff}" : ""
        for _ in 0..<Int.random(in: 0..<24, using: &random) { text += pieces.randomElement(using: &random) ?? "" }
        return text
    }
}
