internal import Failures
internal import Glibc
package import Linux
package import Rotation

extension Failure {
    /// The failure when the file or directory at `path` could not be read or written. The detail names the path
    /// component at fault, unless that is the file itself.
    ///
    /// - Parameter identity: the user who writes an output; nil for another file.
    package init(_ error: FileError, at path: AbsolutePath, of identity: Identity? = nil) {
        let code: Code =
            switch error.code {
            case .missing: .directoryMissing
            case .notGuarded: .unguardedDirectory
            default: error.code
            }
        self.init(
            code, at: .path(path), cause: error.cause, detail: error.explanation(of: path.description),
            remedy: identity.map { OutputRemedy.remedy(error, for: path, as: $0) } ?? error.remedy)
    }
}

/// The remedy when an output cannot be written, for the user that writes it.
enum OutputRemedy {
    /// Below it the daemon creates directories itself.
    static let ownDirectory = "/run/clientsecretd/out"

    /// Nil when no better remedy is known than the failure code's.
    static func remedy(_ error: FileError, for path: AbsolutePath, as identity: Identity) -> Remedy? {
        if let remedy = error.remedy { return remedy }
        if let owner = error.owner { return ofAnother(owner, error.path, path) }
        return remedy(error.code, for: path, as: identity)
    }

    /// The same when a check only tried whether it could be written.
    static func remedy(_ code: FailureCode, for path: AbsolutePath, as identity: Identity) -> Remedy? {
        let directory = path.directory.description
        let user = Owner.argument(user: identity.user)
        switch code {
        case .missing, .directoryMissing:
            let make = ShellCommand.makeDirectory(directory, of: user)
            // The service's sandbox is read-only except where its unit allows writing.
            let isClosed = SystemManager.isSystemd && isReadOnly(above: path.directory)
            return .say("make it", run: isClosed ? make.then(.letWrite(to: directory)) : make)
        case .readOnlyFileSystem, .permissionDenied:
            guard let owner = FileStatus.following(directory)?.owner else { return nil }
            if owner != identity.user { return writtenAs(Owner.argument(user: owner)) }
            return code == .readOnlyFileSystem && SystemManager.isSystemd
                ? .say("mount it writable, or let the service write there", run: .letWrite(to: directory)) : nil
        default:
            return nil
        }
    }

    /// For a file or directory of another user: to use that user's writer, if only trusted users could have put it on the
    /// configured path. Where another user could have put it there, or a link leads to it, no secret may be written.
    private static func ofAnother(_ owner: String, _ place: String, _ path: AbsolutePath) -> Remedy? {
        guard path.description == place || path.description.hasPrefix(place + "/"), let place = AbsolutePath(place),
            let parent = FileStatus.following(place.directory.description)
        else { return nil }
        return parent.mode & 0o022 == 0 ? writtenAs(owner) : .othersDirectory(place.description)
    }

    /// Without systemd a daemon that runs as root starts the user writer itself.
    private static func writtenAs(_ owner: String) -> Remedy {
        let words = "write \"as: \(owner)\" under this output"
        return SystemManager.isSystemd
            ? .say(
                words + " and have its writer started",
                run: "systemctl enable --now \("clientsecretd-writer@" + owner + ".socket") && clientsecretd reload")
            : .say(words, run: "clientsecretd reload")
    }

    /// Whether the deepest existing directory of the path is mounted read-only, for this process at least.
    private static func isReadOnly(above directory: AbsolutePath) -> Bool {
        var place = directory
        while FileStatus.following(place.description) == nil, place.description != "/" { place = place.directory }
        var found = statvfs()
        return unsafe statvfs(place.description, &found) == 0 && found.f_flag & UInt(ST_RDONLY) != 0
    }
}
