package import Model

/// What applies to a file that was deleted, or that holds something else.
///
/// - It is created again with its secrets, as one that never existed.
/// - A shared file that held other lines is not: a new one would lack them, and an application would start with half of its
///   settings. ``FailureCode/outputDeleted`` is reported until the file is back.
/// - A file that is to hold nothing but a secret, was never written and holds something else, is not overwritten
///   (``FailureCode/outputForeign``).
extension Rotation {
    /// Whether a file may be written as if there were none: a missing one, or one that may hold anything.
    package func mayCreate(_ path: AbsolutePath) -> Bool {
        index.specs[path]?.format.isShared == false ? isOwn(path) : !heldOtherLines(path)
    }

    /// Whether a file that holds nothing but a secret was written, by this daemon or an earlier one.
    func isOwn(_ path: AbsolutePath) -> Bool {
        let place = OutputPlace(path: path, slot: .whole)
        return files[path]?.wasOwn == true
            || index.clients(of: path).contains { clients[$0].record.value.outputs.contains(place) }
    }

    /// Whether a file is gone that is not created again.
    func isDeleted(_ path: AbsolutePath) -> Bool {
        files[path]?.observed?.exists == false && heldOtherLines(path)
    }

    private func heldOtherLines(_ path: AbsolutePath) -> Bool {
        guard let spec = index.specs[path], spec.format.isShared else { return false }
        return files[path]?.heldOtherLines == true
            || index.clients(of: path).contains { clients[$0].record.value.shared.contains(path) }
    }
}
