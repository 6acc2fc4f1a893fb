/// A place in a configuration file.
package struct Position: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The file as the user named it.
    package let file: String
    /// From 1.
    package let line: Int
    /// From 1, in characters (Unicode scalars), a tab being one.
    package let column: Int

    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    package static func < (left: Position, right: Position) -> Bool {
        (left.file, left.line, left.column) < (right.file, right.line, right.column)
    }

    /// `file:line:column`, as compilers write it. A file's name may hold anything; what would break the line or control
    /// a terminal is shown as `?`.
    package var description: String {
        "\(harmless(file)):\(line):\(column)"
    }

    /// The position in a message about `other`: names the file only when it is another one.
    func seen(from other: Position) -> String {
        file == other.file ? "line \(line)" : description
    }
}

/// A value and where it is written.
struct Located<Value> {
    let value: Value
    let position: Position

    init(_ value: Value, at position: Position) {
        self.value = value
        self.position = position
    }
}

extension Located: Sendable where Value: Sendable {}

/// `text` with `?` for control characters, for a line on a terminal or in the journal.
func harmless(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? "?" : $0 }))
}

/// The C0 and C1 control characters, DEL, line separators and changes of text direction.
private func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
}
