import Rotation

/// What no output may overwrite, apart from what the configuration itself names.
struct GuardedPlaces {
    /// The configuration's files.
    let files: [AbsolutePath]
    /// Where files that add to it lie.
    let directory: AbsolutePath
    /// Where the state lies unless the configuration says otherwise.
    let stateDirectory: AbsolutePath?
}

extension AbsolutePath {
    /// The directories that lead to it, the nearest first, without the root.
    var directories: [AbsolutePath] {
        var result: [AbsolutePath] = []
        var next = directory
        while next.description != "/" {
            result.append(next)
            next = next.directory
        }
        return result
    }

    func isBelow(_ other: AbsolutePath) -> Bool {
        description.hasPrefix(other.description + "/")
    }
}
