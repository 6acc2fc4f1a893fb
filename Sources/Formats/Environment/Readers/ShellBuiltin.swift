/// The commands of a shell that change its variables, or how it continues.
enum ShellBuiltin {
    private static func set(_ text: String) -> Set<String> { Set(text.split(separator: " ").map(String.init)) }

    /// Each argument is a variable, or assigns one.
    static let declarations = set("export readonly declare typeset local")
    /// They may assign each variable whose name is in their words, now or later.
    static let assigning = set("unset read getopts let mapfile readarray wait")
    /// They carry out their words, now or later.
    static let evaluating = set("eval trap")
    /// They end the file.
    static let ending = set("return exit exec")
    /// The text after them may not run, or not as written.
    static let disturbing = set("break continue enable")
    private static let other = set("set . source alias cd umask")
    /// All that is no program.
    static let all = declarations.union(assigning).union(evaluating).union(ending).union(disturbing).union(other)

    /// Words that make a text, when it is carried out, do more than assign variables.
    static let dangerous = Set(
        declarations.union(ending).union(disturbing).union(["alias", "set", "trap", "shopt", "function"])
            .subtracting(["export", "local"]).map { Array($0.utf8) })

    private static let arrays = Set(declarations.union(["eval", "let", "alias"]).map { Array($0.utf8) })
    private static let keeping = Set(
        declarations.union(assigning).union(evaluating).union(ending).union(disturbing).union([
            "alias", "cd", "umask", "test", "[", "command", "builtin", ":",
        ]).map { Array($0.utf8) })

    /// Whether bash takes parentheses behind an argument `NAME=` for those of an array.
    static func takesArrays(_ name: [UInt8]) -> Bool { arrays.contains(name) }

    /// Whether the arguments get nowhere else from there.
    static func keepsArguments(_ name: [UInt8]) -> Bool { keeping.contains(name) }
}
