/// A command of a shell, as far as it may set variables.
struct ScriptCommand {
    enum Kind {
        /// Assignments, and a command's name with its arguments, or only one of the two.
        case simple([ScriptWord], [ScriptWord])
        /// `{ … }`
        case group([ScriptList])
        /// `( … )`: this shell's variables stay, whatever it contains.
        case subshell
        /// `(( … ))`
        case arithmetic
        /// `if`, the loops and `case`: the part that runs first, and the part that depends on it. Also the words after the first
        /// word, and the variable of a loop.
        case branches(condition: [ScriptList], rest: [ScriptList], words: [ScriptWord], variable: ScriptWord?)
        /// A function's definition. The body is one command.
        case function(String, body: [ScriptCommand])
    }

    var kind: Kind
    var range: Range<Int>
    var redirections: [ShellRedirection] = []

    var isSimple: Bool { if case .simple = kind { true } else { false } }

    /// Whether it only makes literal assignments.
    var neverFails: Bool {
        guard case .simple(let assignments, let words) = kind else { return false }
        return words.isEmpty && redirections.isEmpty
            && assignments.allSatisfy { !$0.isSubstituted && !$0.isArithmetic && $0.defaults.isEmpty }
    }
}

/// `<`, `>` and the word behind.
struct ShellRedirection {
    let target: ScriptWord
    /// Whether it never fails.
    let isSafe: Bool
}
