package import Linux
package import Rotation

/// Removes temporaries that a killed daemon left beside outputs: its own only, before the first write in a directory.
///
/// Outputs may lie on file systems that hang. So their directories are not swept all at once at start, but each by the
/// first job that uses it.
package final class Leftovers: Sendable {
    private let user: Identity
    private let reservedPaths: ReservedPaths
    private let naming: TemporaryNames
    private let swept = QuietMutex<[AbsolutePath: Sweep]>([:])

    /// One directory's sweep: other jobs for the directory wait until it is done.
    private final class Sweep: Sendable {
        let isDone = QuietMutex(false)
    }

    package init(naming: TemporaryNames, as identity: Identity, reservedPaths: ReservedPaths) {
        self.naming = naming
        user = identity
        self.reservedPaths = reservedPaths
    }

    /// Sweeps the directory of `output` unless that was done before. If the directory cannot be read, the next call
    /// tries again; the write that follows reports the failure.
    package func sweep(beside output: AbsolutePath) {
        let sweep = swept.withLock { swept in
            let known = swept[output.directory] ?? Sweep()
            swept[output.directory] = known
            return known
        }
        let identity = reservedPaths.trusting(user)
        sweep.isDone.withLock { isDone in
            if !isDone { isDone = (try? naming.sweep(beside: output.description, as: identity)) != nil }
        }
    }
}
