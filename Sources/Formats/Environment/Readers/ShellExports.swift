/// The variables that the shell exports to programs after it has read a file. These are all assigned ones, unless the file limits
/// them to some lines (`set -a`, `set +a`).
struct ShellExports {
    /// Whether new assignments are exported.
    private var isExporting = false
    /// Whether the file has everything exported from some line on.
    private var saysWhatIsExported = false
    private var exported: Set<[UInt8]> = []
    private var end: Int?

    /// Notes a variable that is assigned.
    ///
    /// - Parameter isExport: whether by the command `export`.
    mutating func note(_ name: [UInt8], isExport: Bool) {
        if isExporting || isExport { exported.insert(name) }
    }

    /// Notes that everything is exported from a command on, or no longer is.
    ///
    /// - Parameter beginsLine: whether the command is the first in its line.
    mutating func set(_ exportsAll: Bool, at start: Int, beginsLine: Bool) {
        if isExporting, !exportsAll, beginsLine { end = start }
        isExporting = exportsAll
        saysWhatIsExported = saysWhatIsExported || exportsAll
    }

    /// Whether `set` with these words has everything exported from now on, or no longer; nil if it leaves that unchanged. The words
    /// are `-a`, `+a`, `-o allexport` or `+o allexport`.
    static func exportsAll(_ words: [String]) -> Bool? {
        var exportsAll: Bool?
        var before = ""
        for word in words.prefix(while: { $0 != "--" }) {
            let sign = (word == "allexport" ? before : word.contains("a") ? word : "").first
            if sign == "-" || sign == "+" { exportsAll = sign == "-" }
            before = word
        }
        return exportsAll
    }

    /// The exported variables, and the line of the file that exports each.
    struct Found {
        let names: Set<[UInt8]>
        /// The start of the last command after which nothing is exported; nil if there is none.
        let end: Int?
        /// Whether each variable is exported by itself.
        let isInEachLine: Bool
        /// Whether a line at the end is exported only by itself, because `set +a` is before it.
        let isOver: Bool
    }

    /// The variables that a file exports for bash; nil when the shell stops at an error in its syntax.
    static func of(_ bytes: [UInt8]) -> Found? {
        guard let reader = ShellReader.atEnd(of: bytes, isDash: false) else { return nil }
        return reader.exports.found(assigned: Set(reader.entries.map(\.name).filter { $0.allSatisfy(\.isNamePart) }))
    }

    private func found(assigned: Set<[UInt8]>) -> Found {
        Found(
            names: saysWhatIsExported ? exported : assigned, end: end,
            isInEachLine: !saysWhatIsExported && !assigned.isEmpty && assigned.isSubset(of: exported),
            isOver: saysWhatIsExported && !isExporting)
    }
}
