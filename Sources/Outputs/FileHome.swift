internal import Failures
package import Linux
package import Model

/// The real place of a file that the daemon or a writer replaces.
package enum FileHome {
    /// The directory in which the file, which need not exist, gets its new version, by the rules of the writer's own walk. For
    /// a link, it is the directory of the link's target. As far as this process sees it; nil behind a link that may not be
    /// followed.
    ///
    /// - Parameter identity: the writing user.
    package static func directory(of path: AbsolutePath, as identity: Identity) -> AbsolutePath? {
        do throws(FileError) {
            return AbsolutePath(try GuardedPath.home(of: path.description, as: identity))
        } catch {
            guard error.code != .untrustedLink, error.code != .foreignOwner else { return nil }
            // Files hidden by a sandbox are missing here, or may not be entered.
            return AbsolutePath(LinkChain.places(of: path.description).last ?? path.description)?.directory
        }
    }

    /// The same for a user by id, without supplementary groups: the walk asks for none.
    package static func directory(of path: AbsolutePath, forUser user: UInt32) -> AbsolutePath? {
        directory(of: path, as: Identity(user: user, group: user))
    }
}
