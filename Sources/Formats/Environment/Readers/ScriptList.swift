/// Pipelines that are joined by `&&` and `||`.
struct ScriptList {
    /// The commands of each, which are joined by `|`.
    var pipelines: [[ScriptCommand]] = []
    /// `&&` and `||` at the ends of lines.
    var lineEnds: [Range<Int>] = []
    /// Whether `&` ends it.
    var isBackground = false
    var range: Range<Int>

    /// Whether it is a single assignment, also after `export`.
    var isAssignment: Bool {
        guard pipelines.count == 1, pipelines[0].count == 1,
            case .simple(let assignments, let words) = pipelines[0][0].kind
        else { return false }
        return !assignments.isEmpty || words.first?.string == "export"
    }
}
