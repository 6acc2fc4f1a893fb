import Rotation

/// Paths that no output may overwrite, besides those that the configuration names.
struct GuardedPlaces {
    /// The configuration's files.
    let files: [AbsolutePath]
    /// The `.d` directory with additional files.
    let directory: AbsolutePath
    /// The state directory unless the configuration names one.
    let stateDirectory: AbsolutePath?
}

extension AbsolutePath {
    /// Its parent directories, the nearest first, without the root.
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
