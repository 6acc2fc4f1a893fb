internal import AppleClientSecret

/// An assignment in an environment file that another program or a person has written.
package struct FoundAssignment: Hashable, Sendable {
    package let name: String
    /// From 1.
    package let line: Int
    /// Without the quotes around it and a comment after it; empty if the line is of a form that no edit accepts.
    package let value: [UInt8]
    /// Whether `export` precedes the name: systemd ignores such a line, other programs do not.
    package let isExported: Bool

    package var withoutValue: FoundAssignment {
        FoundAssignment(name: name, line: line, value: [], isExported: isExported)
    }

    /// All assignments in the file, in its order, as systemd finds them, else as dotenv does; none in a file that both reject.
    /// The time is proportional to the file's size.
    package static func all(in bytes: [UInt8]) -> [FoundAssignment] {
        guard !bytes.contains(0),
            let entries = EnvironmentReader.systemd.entries(in: bytes)
                ?? EnvironmentReader.javaScriptDotenv.entries(in: bytes)
        else { return [] }
        var found: [FoundAssignment] = []
        var (line, counted) = (1, 0)
        for entry in entries {
            let name = String(decoding: entry.name, as: UTF8.self)
            guard VariableName.isValid(name) else { continue }
            line += bytes[counted..<max(counted, entry.range.lowerBound)].count { $0 == .lineFeed }
            counted = max(counted, entry.range.lowerBound)
            let value = EnvironmentAssignment(bytes, statement: entry.range, name: name)?
                .uncommentedValue(in: bytes)
            found.append(
                FoundAssignment(
                    name: name, line: line, value: value ?? [],
                    isExported: !bytes[entry.range].starts(with: entry.name)))
        }
        return found
    }
}
