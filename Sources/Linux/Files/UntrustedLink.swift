internal import Failures
import SystemPackage

/// A link on the way that is blamed for errors behind it, because its owner chose the target. Only the link is reported.
///
/// It belongs neither to root nor to the acting user. Or it belongs to the acting user and leads to another user's file. It is
/// followed, because that user gains nothing by it. But nothing behind it, such as root's file, may be given to that user.
struct UntrustedLink: Hashable {
    let path: FilePath
    let status: FileStatus
    /// Whether its target does not belong to its owner.
    var leadsAway = false
    /// Whether only root and the acting user may create names in its directory.
    var isGuarded = false

    func error(for identity: Identity, hasRemedy: Bool = true) -> FileError {
        if let error = ofAnother(for: identity) { return error }
        return FileError(
            .untrustedLink, at: path.string,
            detail: "the link belongs to \(Owner.describe(user: status.owner))"
                + (leadsAway ? ", but its target does not" : ""),
            remedy: hasRemedy ? remedy(for: identity) : nil)
    }

    /// The error if its owner also owns what it leads to, and no stranger could put it there: the output is that user's. Without the
    /// link an application would lose its file.
    private func ofAnother(for identity: Identity) -> FileError? {
        guard isGuarded, FileStatus.following(path.string)?.owner == status.owner else { return nil }
        let owner = Identity(user: status.owner, group: status.owner)
        let place = try? GuardedWalk.place(path.string, .publishing, as: owner)
        let isOwners = place.map { $0.strangersLink == nil } ?? false
        return FileError(
            .foreignOwner, at: path.string,
            detail: "the link and its target belong to \(Owner.describe(user: status.owner))",
            remedy: isOwners
                ? nil
                : .say(
                    "give both to \(Owner.words(user: identity.user)), if this user writes the file, or name another path",
                    see: .listWay(to: path.string)),
            owner: isOwners ? Owner.argument(user: status.owner) : nil)
    }

    /// Replaces an error about the link's target.
    func blamed(_ error: FileError, for identity: Identity) -> FileError {
        // That something was just being replaced is no verdict.
        let isOfThisLink = error.code == .untrustedLink && error.path == path.string
        return error.code == .changedMeanwhile || isOfThisLink ? error : self.error(for: identity)
    }

    func remedy(for identity: Identity) -> Remedy {
        .say("remove the link", run: .removeLink(PathComponent(path, status, for: identity)))
    }
}
