/// The symbolic links that a path goes through: a change of one of them changes which file the path leads to.
package enum LinkChain {
    /// The kernel's own limit (path_resolution(7)).
    private static let limit = 40

    /// Every link on an absolute `path`, each by a path without links before its last component, and then the final path. Empty
    /// when there is no link. Missing components are kept as written. Blocks; a hint, because the links may change at any moment.
    package static func places(of path: String) -> [String] {
        guard let (links, end) = walk(path, { _ in true }), !links.isEmpty else { return [] }
        return links + [end]
    }

    /// The same links, and the final path. Calls `look` with each place on the way, by a path without links, before it looks at
    /// that place. Nil as soon as `look` returns false.
    static func walk(_ path: String, _ look: (String) -> Bool) -> (links: [String], end: String)? {
        var links: [String] = []
        var rest = Array(path.split(separator: "/").map(String.init).reversed())
        var walked: [String] = []
        while let name = rest.popLast() {
            switch name {
            case ".": continue
            case "..": _ = walked.popLast()
            default:
                let here = "/" + (walked + [name]).joined(separator: "/")
                guard look(here) else { return nil }
                guard links.count < limit, let target = ForeignFile.linkAtOnce(here) else {
                    walked.append(name)
                    continue
                }
                links.append(here)
                if target.hasPrefix("/") { walked = [] }
                rest += target.split(separator: "/").map(String.init).reversed()
            }
        }
        return (links, "/" + walked.joined(separator: "/"))
    }
}
