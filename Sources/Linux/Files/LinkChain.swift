import CLinux
internal import Glibc
import SystemPackage

/// The symbolic links that a path goes through: a change of one of them changes which file the path leads to.
package enum LinkChain {
    /// The kernel's own limit (path_resolution(7)).
    private static let limit = 40

    /// Every link on an absolute `path`, each by a path without links before its last component, and then the final
    /// path; empty when there is no link. Missing components are kept as written. Blocks; a hint, because the links may
    /// change at any moment.
    package static func places(of path: String) -> [String] {
        var links: [String] = []
        var rest = Array(path.split(separator: "/").map(String.init).reversed())
        var walked: [String] = []
        while let name = rest.popLast() {
            switch name {
            case ".": continue
            case "..": _ = walked.popLast()
            default:
                let here = "/" + (walked + [name]).joined(separator: "/")
                guard links.count < limit, let target = target(of: here) else {
                    walked.append(name)
                    continue
                }
                links.append(here)
                if target.hasPrefix("/") { walked = [] }
                rest += target.split(separator: "/").map(String.init).reversed()
            }
        }
        return links.isEmpty ? [] : links + ["/" + walked.joined(separator: "/")]
    }

    private static func target(of path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
