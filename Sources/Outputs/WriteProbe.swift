internal import Failures
package import Linux
package import Model

/// Checks whether a file could be written, without writing it.
package enum WriteProbe {
    /// Why the user that this process runs as could not write a file that it can read; nil when no reason is known.
    package static func failure(
        of spec: FileSpec, as identity: Identity
    ) -> Failure? {
        let directory: String
        do {
            directory = try GuardedPath.directory(
                spec.path.directory.description, as: identity)
            if let error = WritableDirectory.problem(with: directory, as: identity) {
                return Failure(error, at: spec.path, of: identity)
            }
        } catch {
            if error.code == .directoryMissing, spec.path.description.hasPrefix(OutputRemedy.ownDirectory + "/") {
                return nil
            }
            return Failure(error, at: spec.path, of: identity)
        }
        // A file created in a directory with the set-group-id bit gets the directory's group by itself.
        let place = FileStatus.following(directory)
        let inherited = place?.isSetGroupID == true ? place?.group : nil
        func mayGive(_ group: UInt32) -> Bool {
            identity.user == 0 || identity.belongs(to: group) || group == inherited
        }
        guard let group = spec.group else {
            // A file that is replaced keeps its group.
            guard let kept = FileStatus.following(spec.path.description)?.group, !mayGive(kept) else { return nil }
            return Failure(
                .groupNotPermitted, at: .path(spec.path), detail: Owner.argument(group: kept),
                remedy: Owner.joining(group: Owner.argument(group: kept), user: identity.user))
        }
        guard let id = try? Accounts.groupID(group) else {
            return .unknownGroup(group, at: .path(spec.path))
        }
        if !mayGive(id) {
            return Failure(
                .groupNotPermitted, at: .path(spec.path), detail: group,
                remedy: Owner.joining(group: group, user: identity.user))
        }
        return nil
    }
}
