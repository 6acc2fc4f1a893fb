/// Commands that are joined by `|`.
struct ShellPipeline {
    var commands: [ScriptCommand] = []
    var isNegated = false
    /// Whether it depends on a failure before it: `||`.
    var isAlternative = false
}

/// Pipelines that are joined by `&&` and `||`.
struct ScriptList {
    var pipelines: [ShellPipeline] = []
    /// `&&` and `||` at the ends of lines.
    var lineEnds: [Range<Int>] = []
    /// Whether `&` ends it.
    var isBackground = false
    var range: Range<Int>

    /// Whether it is a single assignment, also after `export`.
    var isAssignment: Bool {
        guard pipelines.count == 1, pipelines[0].commands.count == 1,
            case .simple(let assignments, let words) = pipelines[0].commands[0].kind
        else { return false }
        return !assignments.isEmpty || words.first?.string == "export"
    }
}
