package import Linux
package import Rotation

/// Removes temporaries that a killed daemon left beside outputs: its own only, once in each directory.
///
/// Outputs may lie on file systems that hang. So their directories are not swept all at once at start, but each by the
/// first job that uses it.
package final class Leftovers: Sendable {
    private let user: Identity
    private let reservedPaths: ReservedPaths
    private let naming: TemporaryNames
    private let swept = QuietMutex<Set<AbsolutePath>>([])

    package init(naming: TemporaryNames, as identity: Identity, reservedPaths: ReservedPaths) {
        self.naming = naming
        user = identity
        self.reservedPaths = reservedPaths
    }

    /// Sweeps the directory of `output` unless that was done before. If the directory cannot be read, the next call
    /// tries again; the write that follows reports the failure.
    package func sweep(beside output: AbsolutePath) {
        let directory = output.directory
        guard swept.withLock({ $0.insert(directory).inserted }) else { return }
        do throws(FileError) {
            try naming.sweep(beside: output.description, as: reservedPaths.trusting(user))
        } catch {
            swept.withLock { _ = $0.remove(directory) }
        }
    }
}
