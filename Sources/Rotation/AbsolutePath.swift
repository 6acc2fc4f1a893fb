/// An absolute path in lexically normal form, so that equal paths name the same file as far as text can tell: no
/// empty, `.` or `..` component and no slash at the end.
package struct AbsolutePath: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let description: String

    /// The path written in `text`: repeated slashes, `.` components and a slash at the end are dropped. Nil when it is
    /// relative, holds a `..` component (which means another file when a link stands before it), a NUL or a line break,
    /// is longer than 4,095 bytes (PATH_MAX of Linux less its NUL) or has a component over 255 bytes (NAME_MAX).
    package init?(_ text: some StringProtocol) {
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.count <= 4095,
            !text.utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 })
        else { return nil }
        let components = text.split(separator: "/").filter { $0 != "." }
        guard components.allSatisfy({ $0 != ".." && $0.utf8.count <= 255 }) else { return nil }
        description = "/" + components.joined(separator: "/")
    }

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

    package static func < (left: AbsolutePath, right: AbsolutePath) -> Bool {
        left.description < right.description
    }

    private init(normal text: String) {
        description = text
    }

    private var lastSlash: String.Index {
        description.lastIndex(of: "/") ?? description.startIndex
    }
}
