package import Linux
package import Rotation

/// Removes what a killed daemon left beside its outputs: before the first write in a directory, and only its own.
///
/// The directories are those of the outputs, which may lie on file systems that hang: so it is not done all at once at
/// start, but by whoever comes to a directory first.
package final class Leftovers: Sendable {
    private let user: Identity
    private let boundaries: ReservedPaths
    private let naming: TemporaryNames
    private let swept = QuietMutex<[AbsolutePath: Sweep]>([:])

    /// One directory's sweep: others who come to the directory meanwhile wait for it.
    private final class Sweep: Sendable {
        let isDone = QuietMutex(false)
    }

    package init(naming: TemporaryNames, as identity: Identity, boundaries: ReservedPaths) {
        self.naming = naming
        user = identity
        self.boundaries = boundaries
    }

    /// Sweeps the directory of `output` unless that was done before. A directory that cannot be read is left for the
    /// next who comes; that it cannot be written to either is said then.
    package func sweep(beside output: AbsolutePath) {
        let sweep = swept.withLock { swept in
            let known = swept[output.directory] ?? Sweep()
            swept[output.directory] = known
            return known
        }
        let identity = boundaries.trusting(user)
        sweep.isDone.withLock { isDone in
            if !isDone { isDone = (try? naming.sweep(beside: output.description, as: identity)) != nil }
        }
    }
}
