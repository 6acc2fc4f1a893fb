import CLinux
internal import Glibc
import SystemPackage

/// Resolves paths.
package enum RealPath {
    /// The path with every link followed, as far as it exists and this process may search it; the rest as written. Also as
    /// written if the file system does not respond.
    package static func of(_ path: String) -> String {
        DiskTimeout.value(at: path) { () -> String in
            var known = path[...]
            while true {
                if let found = unsafe realpath(String(known), nil) {
                    defer { unsafe free(found) }
                    let real = unsafe String(cString: found)
                    let rest = path[known.endIndex...].drop { $0 == "/" }
                    if rest.isEmpty { return real }
                    return (real == "/" ? "" : real) + "/" + rest
                }
                guard let slash = known.utf8.lastIndex(of: UInt8(ascii: "/")), known.utf8.count > 1 else { return path }
                known = slash == known.startIndex ? known[...slash] : known[..<slash]
            }
        } ?? path
    }

    /// The text after the last slash of a path.
    package static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// The text before the last slash of a path; empty for a file of the root directory, or a mere name.
    package static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    /// Whether a path is a directory or leads into it, by their texts.
    package static func isAt(_ path: String, orBelow directory: String) -> Bool {
        directory == "/" || path == directory || path.hasPrefix(directory + "/")
    }
}
