/// Which variables programs get that are started from the shell which has read a file: all that are assigned, unless the
/// file itself says between which lines (`set -a`, `set +a`).
struct ShellExports {
    /// Whether what is assigned now is exported.
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

    /// What the words of `set` say of what is exported: `-a`, `+a`, `-o allexport`, `+o allexport`.
    struct Options {
        /// Whether everything is exported from now on, or not; nil: that is left as it is.
        private(set) var exportsAll: Bool?
        /// Whether the shell may not carry out what follows as it is written.
        private(set) var mayStop = false
        /// Whether the next word is the name of an option, to be turned on or off.
        private var turnsOn: Bool?
        /// Whether no options follow.
        private var hasEnded = false

        mutating func note(_ word: ArraySlice<UInt8>) {
            if let turnsOn {
                if word.elementsEqual("allexport".utf8) { exportsAll = turnsOn }
                if word.elementsEqual("noexec".utf8) || word.elementsEqual("keyword".utf8) { mayStop = true }
                self.turnsOn = nil
                return
            }
            if word.elementsEqual("--".utf8) { hasEnded = true }
            let isOn = word.first == UInt8(ascii: "-")
            guard !hasEnded, isOn || word.first == UInt8(ascii: "+") else { return }
            if word.contains(UInt8(ascii: "a")) { exportsAll = isOn }
            if word.contains(where: "nkt".utf8.contains) { mayStop = true }
            if word.contains(UInt8(ascii: "o")) { turnsOn = isOn }
        }
    }

    /// What is exported, and by which line of the file.
    struct Found {
        let names: Set<[UInt8]>
        /// Where the last command begins after which nothing is exported; nil if there is none.
        let end: Int?
        /// Whether each variable is exported by itself.
        let isInEachLine: Bool
        /// Whether a line at the end is exported only by itself, because `set +a` is before it.
        let isOver: Bool
    }

    /// What a file exports for bash; nil when the shell stops at an error in its syntax.
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
