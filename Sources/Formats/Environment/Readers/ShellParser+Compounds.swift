/// Compound commands.
extension ShellParser {
    /// Reads one command.
    mutating func command() throws(ShellError) -> ScriptCommand {
        skipBlanks()
        let start = index
        var command = ScriptCommand(kind: .subshell, range: start..<start)
        guard peek() == .openingParenthesis || keyword != nil && keyword?.text != "[[" else { return try simple() }
        try nested { parser throws(ShellError) in command = try parser.compound(from: start) }
        if case .function = command.kind { return command }
        command.range = start..<index
        repeat { skipBlanks() } while try redirection(of: &command)
        return command
    }

    private mutating func compound(from start: Int) throws(ShellError) -> ScriptCommand {
        var kind = ScriptCommand.Kind.subshell
        let (word, end) = keyword ?? ("(", index + 1)
        index = end
        switch word {
        case "(":
            if !isDash, peek() == .openingParenthesis {
                kind = .arithmetic
                var word = ScriptWord(at: start)
                try arithmetic(&word)
            } else {
                _ = try lists(to: .parenthesis)
                index += 1
            }
        case "{": kind = .compound(try lists(upTo: "}"))
        case "if":
            var branches = try lists(upTo: "then") + lists(to: .words(["elif", "else", "fi"]))
            while keyword?.text == "elif" {
                try expect("elif")
                branches += try lists(upTo: "then") + lists(to: .words(["elif", "else", "fi"]))
            }
            if keyword?.text == "else" {
                try expect("else")
                branches += try lists(to: .words(["fi"]))
            }
            try expect("fi")
            kind = .compound(branches)
        case "while", "until": kind = .compound(try lists(upTo: "do") + lists(upTo: "done"))
        case "for", "select": kind = try loop()
        case "case": kind = try cases()
        case "function":
            skipBlanks()
            let name = try someWord()
            skipBlanks()
            if peek() == .openingParenthesis, peek(1) == .closingParenthesis { index += 2 }
            return try function(name.string, from: start)
        case "coproc": throw .unclear
        default: throw .syntax
        }
        return ScriptCommand(kind: kind, range: start..<index)
    }

    /// Reads commands up to a word, and that word.
    private mutating func lists(upTo word: String) throws(ShellError) -> [ScriptList] {
        let lists = try lists(to: .words([word]))
        try expect(word)
        return lists
    }

    private mutating func expect(_ word: String) throws(ShellError) {
        guard let (text, end) = keyword, text == word else { throw .syntax }
        index = end
    }

    private mutating func loop() throws(ShellError) -> ScriptCommand.Kind {
        skipBlanks()
        if !isDash, peek() == .openingParenthesis { throw .unclear }
        let variable = try someWord()
        guard variable.isName || !isDash else { throw .syntax }
        skipLines()
        var words: [ScriptWord] = []
        if bytes[index...].starts(with: "in".utf8) {
            guard try word().text.count == 2 else { throw .syntax }
            skipBlanks()
            while let byte = peek(), byte != .semicolon, byte != .lineFeed, byte != .hash {
                words.append(try someWord())
                data.append(words[words.count - 1].range)
                skipBlanks()
            }
        }
        if peek() == .semicolon { index += 1 }
        skipLines()
        let isBrace = !isDash && keyword?.text == "{"
        try expect(isBrace ? "{" : "do")
        return .compound(try lists(upTo: isBrace ? "}" : "done"), words: words, variable: variable)
    }

    private mutating func cases() throws(ShellError) -> ScriptCommand.Kind {
        skipBlanks()
        var words = [try someWord()]
        skipLines()
        guard try word().string == "in" else { throw .syntax }
        var branches: [ScriptList] = []
        while true {
            skipLines()
            if keyword?.text == "esac" {
                try expect("esac")
                return .compound(branches, words: words)
            }
            if peek() == .openingParenthesis { index += 1 }
            while true {
                skipBlanks()
                words.append(try someWord())
                skipBlanks()
                guard peek() == .bar else { break }
                index += 1
            }
            guard peek() == .closingParenthesis else { throw .syntax }
            index += 1
            branches += try lists(to: .branch, mayBeEmpty: true)
            index += branchEnd ?? 0
        }
    }

    /// The body of a function. For bash, it is a compound command.
    mutating func function(_ name: String, from start: Int) throws(ShellError) -> ScriptCommand {
        skipLines()
        var body = ScriptCommand(kind: .subshell, range: index..<index)
        try nested { parser throws(ShellError) in body = try parser.command() }
        if case .simple(_, let words) = body.kind, !isDash, words.first?.string != "[[" { throw .syntax }
        return ScriptCommand(kind: .function(name, body: [body]), range: start..<index)
    }
}
