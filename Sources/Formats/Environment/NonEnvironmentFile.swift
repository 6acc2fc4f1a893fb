/// A file that is no environment file, by its name, its first line or its sections, although its lines may look like assignments.
package enum NonEnvironmentFile {
    /// Endings of source code and of documents with another syntax.
    private static let endings = words(
        "cjs cue gradle hcl java js json json5 jsx kt mjs mount nix php plist py rb service socket tf tfvars timer toml ts tsx xml yaml yml"
    )
    /// Endings that environment files have too.
    private static let doubtful = words("cfg cs go ini lua pl properties rs")

    private static let shells = words("sh ash bash dash ksh mksh zsh")

    private static func words(_ text: String) -> Set<Substring> { Set(text.split(separator: " ")) }

    /// Why a file gets no variable, as the end of a sentence. The reason is its ending, the program that its first line names, or
    /// a section. Nil if none of them shows another syntax.
    ///
    /// - Parameter variables: those to set. Sections do not matter if each is assigned exactly once, so that there is no doubt
    ///   about its line. Nil: which ones is not known yet.
    package static func reason(_ file: String, _ bytes: [UInt8], setting variables: Set<String>? = nil) -> String? {
        let ending = ending(of: file)
        if endings.contains(ending) { return "by its ending .\(ending) it is no environment file" }
        if let program = program(of: bytes), !shells.contains(program[...]) {
            return "by its first line it is a script of \(program)"
        }
        let line = lineOfSection(in: bytes)
        if line != nil, let variables {
            let assigned = FoundAssignment.all(in: bytes).map(\.name)
            if variables.allSatisfy({ name in assigned.count { $0 == name } == 1 }) { return nil }
        }
        return line.map {
            "by its line \($0), which begins or ends a section, it is no environment file"
        }
    }

    /// The first line, from 1, that begins or ends a section; nil if there is none. One name may have a value in each section, and
    /// these belong to different settings: readers of environment files see several assignments of one variable, and an edit
    /// would set them all. A line within a value of several lines is a part of the value.
    private static func lineOfSection(in bytes: [UInt8]) -> Int? {
        let candidates = bytes.split(whereSeparator: \.isLineBreak).compactMap { line in
            SectionMark(line).map { (offset: line.startIndex, mark: $0) }
        }
        // The readers are asked only about a file that has such a line.
        guard !candidates.isEmpty, let file = try? EnvironmentFile(bytes) else { return nil }
        let isOfShell = file.readings.contains { $0.reader.isShell }
        let lines = candidates.filter { !$0.mark.mayBeOfShell || !isOfShell }.map { file.line(of: $0.offset) }
        return file.firstOutsideOfValues(lines).map { $0 + 1 }
    }

    /// Whether a file of this name may well have another syntax, so that nothing in it is treated as a variable without being
    /// asked.
    package static func isLikely(_ file: String) -> Bool {
        let ending = ending(of: file)
        return endings.contains(ending) || doubtful.contains(ending)
    }

    /// In lower case; empty for a name without one, and for the names of environment files for a stage, such as `.env.js`.
    private static func ending(of file: String) -> Substring {
        let name = file.lowercased()
        guard !name.hasPrefix(".env"), !name.hasPrefix("env."), let dot = name.lastIndex(of: "."), dot > name.startIndex
        else { return "" }
        return name[name.index(after: dot)...]
    }

    /// The program that runs the file by its first line, without its directory; nil if there is none.
    private static func program(of bytes: [UInt8]) -> String? {
        guard bytes.starts(with: "#!".utf8) else { return nil }
        let line = bytes.dropFirst(2).prefix { !$0.isLineBreak }
        let words = line.split(whereSeparator: \.isEnvironmentSpace).map { String(decoding: $0, as: UTF8.self) }
        guard let first = words.first, first.hasPrefix("/") else { return nil }
        let names = words.map { String($0.split(separator: "/").last ?? "") }
        return names[0] == "env" ? names.dropFirst().first { !$0.hasPrefix("-") } : names[0]
    }
}
