import AppleClientSecret

/// An absolute path in lexically normal form, so that equal paths name the same file as far as text can tell: no
/// empty, `.` or `..` component and no slash at the end.
///
/// Paths are compared by their bytes, as the kernel does. Strings are not: two ways to write an accented letter make equal
/// strings, and two files.
package struct AbsolutePath: Hashable, Comparable, Sendable, LosslessStringConvertible {
    package let description: String
    /// Whether its string is compared as its bytes are, which is many times as fast.
    private let isASCII: Bool

    /// The path written in `text`: repeated slashes, `.` components and a slash at the end are dropped. Nil when it is
    /// relative, holds a `..` component (which names another file after a symbolic link), a NUL or a line break,
    /// is longer than 4,095 bytes (PATH_MAX of Linux less its NUL) or has a component over 255 bytes (NAME_MAX).
    package init?(_ text: some StringProtocol) {
        // Split by bytes, as the kernel does. As Characters, a combining accent would merge with the slash before it, and the
        // search takes many times as long.
        let bytes = Array(text.utf8)
        guard bytes.first == Self.slash, bytes.count <= 4095,
            !bytes.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 })
        else { return nil }
        var normal: [UInt8] = []
        normal.reserveCapacity(bytes.count)
        for component in bytes.split(separator: Self.slash) where component != [Self.dot] {
            guard component.count <= 255, component != [Self.dot, Self.dot] else { return nil }
            normal.append(Self.slash)
            normal += component
        }
        self.init(normal: normal.isEmpty ? "/" : String(decoding: normal, as: UTF8.self))
    }

    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")

    /// The last component; empty for the root.
    package var name: String {
        String(description[description.index(after: lastSlash)...])
    }

    /// The directory that holds it; the root's is the root.
    package var directory: AbsolutePath {
        AbsolutePath(normal: lastSlash == description.startIndex ? "/" : String(description[..<lastSlash]))
    }

    /// The path of `component` in this directory; nil when that is not one plain name.
    package func appending(_ component: some StringProtocol) -> AbsolutePath? {
        guard !component.isEmpty, !component.contains("/") else { return nil }
        return AbsolutePath(description + "/" + component)
    }

    /// Whether it is inside of a directory, at any depth.
    package func isBelow(_ directory: AbsolutePath) -> Bool {
        directory.description == "/"
            ? description != "/" : description.utf8.starts(with: (directory.description + "/").utf8)
    }

    package static func < (left: AbsolutePath, right: AbsolutePath) -> Bool {
        left.isASCII && right.isASCII
            ? left.description < right.description
            : left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }

    package static func == (left: AbsolutePath, right: AbsolutePath) -> Bool {
        left.description == right.description
            && (left.isASCII && right.isASCII || left.description.utf8.elementsEqual(right.description.utf8))
    }

    // Equal paths are equal strings, so a string's hash will do.
    package func hash(into hasher: inout Hasher) { hasher.combine(description) }

    private init(normal text: String) {
        description = text
        isASCII = text.utf8.allSatisfy { $0 < 0x80 }
    }

    private var lastSlash: String.Index {
        description.utf8.lastIndex(of: Self.slash) ?? description.startIndex
    }
}

extension AbsolutePath: JSONString {}
