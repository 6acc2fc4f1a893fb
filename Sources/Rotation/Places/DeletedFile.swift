internal import Failures
package import Model

/// The rules for a file that was deleted, or that holds something else.
///
/// - It is created again with its secrets, like a new one.
/// - A shared file that held other lines is not: without them an application would start with half of its settings.
///   ``FailureCode/outputDeleted`` is reported until the file is back. The daemon remembers the other lines also while no
///   output, or another client's, names its path.
/// - The same applies to a shared file that was emptied of them (``FailureCode/outputEmptied``): a program may be about to
///   write them. It is written if it was seen missing before, or still has a variable of an output.
/// - A file that is to hold only a secret, was never written and holds something else, is not overwritten
///   (``FailureCode/outputForeign``).
/// - A file that was written as a whole stays the daemon's in any format, until another program writes there while it is an
///   environment file. If an environment file then holds a secret in another format, it is refused, and created again once it
///   is gone.
extension Rotation {
    /// Whether a file may be written as if it were new: it is missing, or may hold anything.
    package func mayCreate(_ path: AbsolutePath) -> Bool {
        guard index.specs[path]?.format.isShared != false else { return isOwn(path) }
        return isMissing(path) ? lostLines(path) == nil : !heldOtherLines(path)
    }

    /// Whether a file that holds only a secret was written, by this daemon or an earlier one.
    func isOwn(_ path: AbsolutePath) -> Bool {
        guard let file = files[path], !file.isShared else { return false }
        let place = OutputPlace(path: path, slot: .whole)
        return file.isOwn
            || index.clients(of: .file(path)).contains { clients[$0].record.value.outputs.contains(place) }
    }

    /// Why a file that held other lines is not written: it was deleted, or emptied of them.
    func lostLines(_ path: AbsolutePath) -> Failure? {
        guard heldOtherLines(path), let file = files[path], !file.isOwn, let observed = file.observed else {
            return nil
        }
        guard observed.exists else { return Failure(.outputDeleted, at: .path(path)) }
        return observed.otherLines || !observed.slots.isEmpty ? nil : Failure(.outputEmptied, at: .path(path))
    }

    /// A failure of a file that held other lines, without a command that removes the link in its place: an application would lose
    /// the lines behind it, and the file is not created again.
    func keepingLink(_ failure: Failure, of job: Job) -> Failure {
        guard failure.code == .untrustedLink, case .file(let path) = job.resource, heldOtherLines(path) else {
            return failure
        }
        return failure.with(
            .say("replace the link by the file with its other lines, or write the path that it leads to"))
    }

    private func isMissing(_ path: AbsolutePath) -> Bool { files[path]?.observed?.exists == false }

    private func heldOtherLines(_ path: AbsolutePath) -> Bool {
        index.specs[path]?.format.isShared == true && files.shared.contains(path)
    }
}
