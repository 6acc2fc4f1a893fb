/// The commands of a shell that change its variables, or how it continues.
enum ShellBuiltin {
    private static func set(_ text: String) -> Set<String> { Set(text.split(separator: " ").map(String.init)) }

    /// Each argument is a variable, or assigns one.
    static let declarations = set("export readonly declare typeset local")
    /// They may assign each variable whose name is in their words, now or later.
    static let assigning = set("unset read getopts let mapfile readarray wait")
    private static let other = set("eval trap return exit exec break continue enable set . source alias cd umask")
    /// All that is no program.
    static let all = declarations.union(assigning).union(other)

    private static let arrays = Set(declarations.union(["eval", "let", "alias"]).map { Array($0.utf8) })

    /// Whether bash takes parentheses behind an argument `NAME=` for those of an array.
    static func takesArrays(_ name: [UInt8]) -> Bool { arrays.contains(name) }
}
