package import Model

/// The rules for a file that was deleted, or that holds something else.
///
/// - It is created again with its secrets, like a new one.
/// - A shared file that held other lines is not: without them an application would start with half of its settings.
///   ``FailureCode/outputDeleted`` is reported until the file is back. The daemon remembers the other lines until it sees the
///   file without them. It does so also while no output, or another client's, names its path.
/// - A file that is to hold only a secret, was never written and holds something else, is not overwritten
///   (``FailureCode/outputForeign``).
/// - A file that was written as a whole stays the daemon's in any format, until another program writes there while it is an
///   environment file. If an environment file then holds a secret in another format, it is refused, and created again once it
///   is gone.
extension Rotation {
    /// Whether a file may be written as if it were new: it is missing, or may hold anything.
    package func mayCreate(_ path: AbsolutePath) -> Bool {
        guard index.specs[path]?.format.isShared != false else { return isOwn(path) }
        return isMissing(path) ? !isDeleted(path) : !heldOtherLines(path)
    }

    /// Whether a file that holds only a secret was written, by this daemon or an earlier one.
    func isOwn(_ path: AbsolutePath) -> Bool {
        guard let file = files[path], !file.isShared else { return false }
        let place = OutputPlace(path: path, slot: .whole)
        return file.isOwn || index.clients(of: path).contains { clients[$0].record.value.outputs.contains(place) }
    }

    /// Whether a deleted file is not created again.
    func isDeleted(_ path: AbsolutePath) -> Bool {
        isMissing(path) && heldOtherLines(path) && files[path]?.isOwn != true
    }

    private func isMissing(_ path: AbsolutePath) -> Bool { files[path]?.observed?.exists == false }

    private func heldOtherLines(_ path: AbsolutePath) -> Bool {
        index.specs[path]?.format.isShared == true && files.shared.contains(path)
    }
}
