import Model

/// The directories whose watches workers are adding.
struct WatchRequests {
    /// By directory: the number of the request.
    private var running: [AbsolutePath: Int] = [:]
    private var last = 0
    /// The last request before the removal of a watch. A worker may have got that same watch by another path, as for a
    /// directory behind a link.
    private var lastBeforeRemoval = 0
    /// Directories to ask for again when their request has ended: a notice came meanwhile, or the watch that was got may be gone.
    private var repeated: Set<AbsolutePath> = []

    /// Whether to ask a worker for this directory now. If one is at it, the directory is asked for again.
    mutating func begin(_ directory: AbsolutePath) -> Bool {
        guard running[directory] == nil else {
            repeated.insert(directory)
            return false
        }
        last += 1
        running[directory] = last
        return true
    }

    /// The worker got no watch, or could not be asked.
    mutating func endWithoutWatch(_ directory: AbsolutePath) { running[directory] = nil }

    mutating func endWithWatch(_ directory: AbsolutePath) {
        guard let request = running.removeValue(forKey: directory), request <= lastBeforeRemoval else { return }
        repeated.insert(directory)
    }

    /// A watch is removed.
    mutating func noteRemoval() { lastBeforeRemoval = last }

    /// The directories to ask for again now.
    mutating func takeRepeated() -> Set<AbsolutePath> {
        let due = repeated.filter { running[$0] == nil }
        repeated.subtract(due)
        return due
    }
}
