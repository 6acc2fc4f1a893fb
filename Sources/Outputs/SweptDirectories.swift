package import Linux
package import Model

/// Removes temporaries that a killed daemon or writer left next to outputs: this daemon's only, once in each directory.
///
/// Outputs may be on file systems that do not respond. So their directories are not swept all at once at start, but each by
/// the first job that uses it.
package final class SweptDirectories: Sendable {
    private let user: Identity
    private let reservedPaths: ReservedPaths
    private let naming: TemporaryNames
    private let swept = QuietMutex<Set<Place>>([])

    private struct Place: Hashable {
        let directory: AbsolutePath
        /// Whose writer sweeps it; nil: the daemon.
        let user: String?

        init(beside output: AbsolutePath, user: String?) {
            // A link is replaced in the directory of its target, which need not be that of the outputs next to the link.
            directory = ForeignFile.link(output.description) == nil ? output.directory : output
            self.user = user
        }
    }

    package init(naming: TemporaryNames, as identity: Identity, reservedPaths: ReservedPaths) {
        self.naming = naming
        user = identity
        self.reservedPaths = reservedPaths
    }

    /// Sweeps the directory of `output` unless that was done before. If the directory cannot be read, the next call
    /// tries again; the write that follows reports the failure.
    package func sweep(beside output: AbsolutePath) {
        try? first(beside: output, of: nil) { isFirst throws(FileError) in
            if isFirst { try naming.sweep(beside: output.description, as: reservedPaths.trusting(user)) }
        }
    }

    /// Calls `body`. Its argument shows whether this is the first time for this directory and this user's writer: then it has
    /// to be swept. If it throws, the next time is the first.
    package func first<Value, Problem>(
        beside output: AbsolutePath, of user: String?, _ body: (Bool) throws(Problem) -> Value
    ) throws(Problem) -> Value {
        let place = Place(beside: output, user: user)
        let isFirst = swept.withLock { $0.insert(place).inserted }
        do throws(Problem) {
            return try body(isFirst)
        } catch {
            if isFirst { swept.withLock { _ = $0.remove(place) } }
            throw error
        }
    }

    /// Has this user's writer sweep the directory of `output` again: one that failed may have been killed, and left a
    /// temporary file.
    package func forget(beside output: AbsolutePath, of user: String) {
        swept.withLock { _ = $0.remove(Place(beside: output, user: user)) }
    }
}
