import SystemPackage

/// The name of one temporary, which this process's sweeps leave alone for as long as the value lives.
///
/// A sweep can meet a file that is being written: a directory may be an output's by one path and another's, or the state
/// directory's, by a second path.
struct TemporaryName: ~Copyable {
    let component: FilePath.Component

    private static let inUse = QuietMutex<Set<FilePath.Component>>([])

    init(_ component: FilePath.Component) {
        self.component = component
        Self.inUse.withLock { _ = $0.insert(component) }
    }

    deinit {
        Self.inUse.withLock { [component] in _ = $0.remove(component) }
    }

    static func isInUse(_ component: FilePath.Component) -> Bool {
        inUse.withLock { $0.contains(component) }
    }
}
