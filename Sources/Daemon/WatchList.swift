import Rotation

/// Which directories have to be watched, and what a notice from one of them is a reason to look at.
struct WatchList: Hashable, Sendable {
    /// By directory, and in it by name.
    private(set) var interests: [AbsolutePath: Interests] = [:]

    /// What is of interest in one directory.
    struct Interests: Hashable, Sendable {
        /// What the file of this name is.
        var names: [String: Set<Resource>] = [:]

        var all: Set<Resource> {
            names.values.reduce([]) { $0.union($1) }
        }
    }

    /// Kubernetes replaces all files of a mounted secret at once by swapping this link in their directory.
    private static let swappedLink = "..data"

    init() {}

    init(_ configuration: Configuration) {
        for path in configuration.files.keys { add(path, .file(path)) }
        for (name, entry) in configuration.keys {
            for location in [entry.location, entry.passphrase] {
                guard case .file(let path)? = location else { continue }
                add(path, .key(name))
                interests[path.directory]?.names[Self.swappedLink, default: []].insert(.key(name))
            }
        }
    }

    /// An output that really lies elsewhere, behind links, is watched there as well.
    mutating func add(_ realPath: AbsolutePath, _ resource: Resource) {
        interests[realPath.directory, default: Interests()].names[realPath.name, default: []].insert(resource)
    }

    /// What a notice is a reason to look at.
    func stirred(in directory: AbsolutePath, name: String) -> Set<Resource> {
        interests[directory]?.names[name] ?? []
    }
}
