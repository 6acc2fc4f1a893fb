internal import Failures
package import Linux
package import Model

/// Checks whether a file could be written, without writing it.
package enum WriteProbe {
    /// Why the user that this process runs as could not write a file that it can read; nil when no reason is known.
    package static func failure(
        of spec: FileSpec, as identity: Identity
    ) -> Failure? {
        if let error = error(at: spec.path, as: identity) { return Failure(error, at: spec.path, of: identity) }
        guard let directory = try? GuardedPath.home(of: spec.path.description, as: identity) else { return nil }
        // A file created in a directory with the set-group-id bit gets the directory's group by itself.
        let place = FileStatus.following(directory)
        let inherited = place?.isSetGroupID == true ? place?.group : nil
        if let name = spec.group, (try? Accounts.groupID(name)) == nil {
            return .unknownGroup(name, at: .path(spec.path))
        }
        guard let group = group(of: spec) else { return nil }
        if identity.user == 0, ThreadUser.mayChangeOwners { return nil }
        if identity.belongs(to: group.id) || group.id == inherited { return nil }
        return Failure(
            .groupNotPermitted, at: .path(spec.path), detail: group.name,
            remedy: Owner.joining(group: group.name, user: identity.user))
    }

    /// The group that the file is given; nil if there is none of that name, or none is given. A file that is replaced keeps its own.
    package static func group(of spec: FileSpec) -> (name: String, id: UInt32)? {
        if let name = spec.group { return (try? Accounts.groupID(name)).map { (name, $0) } }
        let kept = FileStatus.following(spec.path.description)?.group
        return kept.map { (Owner.argument(group: $0), $0) }
    }

    /// The error that would keep this user from writing in the file's directory; nil when none is known. A directory that the
    /// daemon creates itself may be missing.
    static func error(at path: AbsolutePath, as identity: Identity) -> FileError? {
        do throws(FileError) {
            _ = try GuardedPath.home(of: path.description, as: identity, isWritten: true)
        } catch {
            let isCreated =
                error.code == .directoryMissing && path.description.hasPrefix(OutputRemedy.ownDirectory + "/")
            return isCreated ? nil : error
        }
        return nil
    }
}
