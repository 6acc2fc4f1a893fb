/// A command of a shell, as far as it may set variables.
struct ScriptCommand {
    enum Kind {
        /// Assignments, and a command's name with its arguments, or only one of the two.
        case simple([ScriptWord], [ScriptWord])
        /// `( … )`: this shell's variables stay, whatever it contains.
        case subshell
        /// `(( … ))`
        case arithmetic
        /// `{ … }`, `if`, `case` and the loops. Also the words after the first word, and the variable of a loop.
        case compound([ScriptList], words: [ScriptWord] = [], variable: ScriptWord? = nil)
        /// A function's definition. The body is one command.
        case function(String, body: [ScriptCommand])
    }

    var kind: Kind
    var range: Range<Int>
    /// The words behind `<` and `>`.
    var redirections: [ScriptWord] = []
}
