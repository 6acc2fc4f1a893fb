/// What applies to a file that was deleted.
///
/// - It is created again with its secrets, as one that never existed.
/// - A shared file that held other lines is not: a new one would lack them, and an application would start with half of its
///   settings. ``FailureCode/outputDeleted`` is reported until somebody puts it back.
extension Rotation {
    /// Whether a missing file is created when it is next written.
    func mayCreate(_ path: AbsolutePath) -> Bool {
        !heldOtherLines(path)
    }

    /// Whether a file is gone that is not created again.
    func isDeleted(_ path: AbsolutePath) -> Bool {
        destinations[path]?.observed?.exists == false && heldOtherLines(path)
    }

    private func heldOtherLines(_ path: AbsolutePath) -> Bool {
        guard let spec = index.specs[path], spec.format.isShared else { return false }
        return destinations[path]?.heldOtherLines == true
            || index.clients(of: path).contains { records.kept($0)?.shared.contains(path) == true }
    }
}
