import SystemPackage

/// Looks at files where others may have a hand in: on the way no link of somebody else's is followed, and no directory
/// gone through in which somebody else could put one thing in another's place.
package enum GuardedPath {
    /// Reads a regular file; nil when nothing has that name. Never waits for a FIFO.
    ///
    /// - Parameter limit: in bytes; a larger file is refused.
    package static func read(_ path: String, as identity: Identity, limit: Int) throws(FileError) -> FileContent? {
        let place = try GuardedWalk.place(path, .publishing, as: identity)
        guard place.found != nil else { return nil }
        return try OpenFile(place, limit: limit).content()
    }

    /// The real path of a directory that is fit to publish in.
    package static func directory(_ path: String, as identity: Identity) throws(FileError) -> String {
        try GuardedWalk.directory(path, .publishing, as: identity).path.string
    }
}
