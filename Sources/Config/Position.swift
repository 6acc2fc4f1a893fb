internal import Failures

/// A place in a configuration file.
package struct Position: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The file as the user named it.
    package let file: String
    /// From 1.
    package let line: Int
    /// From 1, in characters (Unicode scalars), a tab being one.
    package let column: Int

    /// The start of a file, unless another place in it is given.
    package init(file: String, line: Int = 1, column: Int = 1) {
        self.file = file
        self.line = line
        self.column = column
    }

    package static func < (left: Position, right: Position) -> Bool {
        (left.file, left.line, left.column) < (right.file, right.line, right.column)
    }

    /// `file:line:column`, as compilers write it. A file's name may hold anything.
    package var description: String {
        "\(Printable.line(file)):\(line):\(column)"
    }

    /// The position in a message about `other`: names the file only when it is another one.
    func seen(from other: Position) -> String {
        file == other.file ? "line \(line)" : description
    }
}
