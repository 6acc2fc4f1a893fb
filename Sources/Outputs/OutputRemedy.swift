package import Failures
internal import Formats
package import Linux
package import Model

extension Failure {
    /// The failure when the file or directory at `path` could not be read or written. The detail names the path
    /// component at fault, unless that is the file itself.
    ///
    /// - Parameter identity: the writing user of an output; nil for another file.
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

/// The remedy for the writing user when an output cannot be written.
package enum OutputRemedy {
    /// The service may write to it (systemd/clientsecretd.tmpfiles), and all users may read it. Below it the daemon creates
    /// directories itself.
    package static let ownDirectory = "/run/clientsecretd/out"

    /// The remedy if a directory cannot be made writable.
    package static let anotherPath = "write another path"

    /// Nil when no better remedy is known than the failure code's.
    static func remedy(_ error: FileError, for path: AbsolutePath, as identity: Identity) -> Remedy? {
        if let remedy = error.remedy { return remedy }
        if let owner = error.owner {
            return ofAnother(owner, error.path, path)
                ?? .say("write another path, or remove the link that leads there", see: .listWay(to: path.description))
        }
        return remedy(error.code, at: error.path, for: path, as: identity)
    }

    /// - Parameter component: the real path of the file or of a directory on the way to it that failed.
    static func remedy(
        _ code: FailureCode, at component: String, for path: AbsolutePath, as identity: Identity
    ) -> Remedy? {
        switch code {
        case .missing, .directoryMissing: making(path.directory, for: identity.user)
        case .readOnlyFileSystem: ofReadOnly(component, for: path, as: identity)
        case .permissionDenied:
            ofDenied(component, for: path, as: identity)
                ?? .say(
                    "let \(Owner.words(user: identity.user)) enter \(Printable.name(component)) and write there, or write "
                        + "another path")
        case .foreignOwner: .say("write \"as:\" and the file's owner under the output, or another path")
        case .diskFull: .freeSpace(in: home(of: path, as: identity))
        case .quotaExceeded:
            .freeSpace(in: home(of: path, as: identity), orRaiseQuotaOf: Owner.words(user: identity.user))
        default: nil
        }
    }

    /// The directory in which the file is replaced.
    private static func home(of path: AbsolutePath, as identity: Identity) -> String {
        (FileHome.directory(of: path, as: identity) ?? path.directory).description
    }

    /// The commands that create a missing directory, and let a sandboxed daemon write to it.
    package static func making(_ directory: AbsolutePath, for user: UInt32, mode: String = "0755") -> Remedy {
        if isShipped(directory, for: user), FileStatus.following(ownDirectory) == nil {
            let way = AbsolutePath(ownDirectory)?.directory
            let isThere = way.flatMap { FileStatus.following($0.description) } != nil
            let create = ShellCommand.createShippedDirectories
            // The service no longer has the directory that it was allowed to write to.
            return .say("create \(ownDirectory) again", run: isThere ? create : create.then(.restart()))
        }
        var existing = directory
        var missing: AbsolutePath?
        while FileStatus.following(existing.description) == nil, existing.description != "/" {
            (missing, existing) = (existing, existing.directory)
        }
        // The directory is there for a link in it, or the highest name that leads nowhere is one.
        guard let missing, ForeignFile.link(missing.description) == nil else {
            return .say(
                "a link leads to a directory that does not exist: create that one, or remove the link",
                see: .listWay(to: directory.description))
        }
        let words = "create \(Printable.name(directory.description)) for \(Owner.words(user: user))"
        let make: ShellCommand
        do throws(DirectoryObstacle) {
            make = try ShellCommand.making(directory.description, for: user, mode: mode)
        } catch {
            return .say(Self.words(error) ?? words)
        }
        // The service's sandbox is read-only except where its unit allows writing.
        guard let cause = ReadOnlyCause.of(RealPath.of(existing.description)), user == Identity.current().user else {
            return .say(words, run: make)
        }
        return .say(words, run: make.then(.letWrite(to: directory.description, readOnlyBy: cause)))
    }

    /// The remedy if no command creates a directory; nil if it need only be created.
    private static func words(_ obstacle: DirectoryObstacle) -> String? {
        switch obstacle {
        case .ofUnit(let made): return "\(made.words): name a path elsewhere, or \(made.advice)"
        case .open(let directory):
            return
                "name a path elsewhere: others may create files in \(Printable.name(directory)), or it has an access list"
        case .volatile:
            return "name a path elsewhere, or have this directory made at each boot: a reboot removes it"
        case .other:
            return nil
        }
    }

    /// Whether a directory is ``ownDirectory`` or below it, and systemd-tmpfiles creates that for this user.
    private static func isShipped(_ directory: AbsolutePath, for user: UInt32) -> Bool {
        (directory.description + "/").hasPrefix(ownDirectory + "/") && SystemManager.isSystemd
            && Owner.argument(user: user) == Identity.serviceName
            && ["/etc", "/run", "/usr/local/lib", "/usr/lib"].contains {
                FileStatus.following("\($0)/tmpfiles.d/clientsecretd.conf") != nil
            }
    }

    /// A read-only file system, a read-only mount, or the sandbox of the daemon's unit.
    private static func ofReadOnly(_ component: String, for path: AbsolutePath, as identity: Identity) -> Remedy? {
        let directory = home(of: path, as: identity)
        guard let status = FileStatus.following(directory), status.owner == identity.user else {
            return ofDenied(component, for: path, as: identity)
        }
        return ReadOnlyCause.of(directory).map { cause in
            ofReadOnly(cause, directory, for: identity.user, otherwise: anotherPath)
        }
    }

    /// - Parameters:
    ///   - isOpened: whether no sandbox is known to be in the way: the daemon's unit lets it write to the directory, or no unit
    ///     runs this process, which then sees the machine's own mounts.
    ///   - words: what helps where the directory is not to be written to.
    package static func ofReadOnly(
        _ cause: ReadOnlyCause, _ directory: String, for user: UInt32, isOpened: Bool = !OwnUnit.hasStartedProcess,
        otherwise words: String
    ) -> Remedy {
        switch cause {
        case .sandbox:
            let isOwn = user == Identity.current().user
            return .say(
                "let the service write there", run: isOwn ? .letWrite(to: directory, readOnlyBy: .sandbox) : nil)
        case .mount(let point):
            let settings = isOpened ? "" : ", let the service write there with ReadWritePaths="
            return .say(
                "the mount at \(Printable.name(point)) is read-only here: mount it writable and restart the daemon"
                    + "\(settings), or \(words)")
        case .fileSystem(let point):
            return ofReadOnly(fileSystem: point, otherwise: words)
        }
    }

    /// A file system is read-only for all processes.
    package static func ofReadOnly(fileSystem point: String, otherwise words: String) -> Remedy {
        .say("the file system at \(Printable.name(point)) is read-only: mount it writable, or \(words)")
    }

    /// For a directory that a writer's unit does not write to, if it is not known what makes it read-only.
    package static func ofReadOnly(_ directory: AbsolutePath, for writer: String) -> Remedy {
        .say(
            "mount it writable, or let \(writer) write to \(Printable.name(directory.description)), with the lines that are "
                + "printed", see: .check)
    }

    /// A file or directory of the user's own that is closed to it.
    package static func ofMode(of component: String, for user: UInt32) -> Remedy {
        .say(
            "\(Owner.words(user: user)) owns \(Printable.name(component)) but its mode does not let this user write to it: "
                + "change the mode")
    }

    /// A directory that the user may not enter or write to, or a file that it may not read.
    private static func ofDenied(_ component: String, for path: AbsolutePath, as identity: Identity) -> Remedy? {
        let name = Owner.words(user: identity.user)
        if isShipped(path.directory, for: identity.user), FileStatus.following(ownDirectory)?.owner == 0 {
            return .say("\(ownDirectory) belongs to root: give it back to \(name)", see: .createShippedDirectories)
        }
        guard let status = FileStatus.following(component) else { return nil }
        if status.kind == .directory, FileStatus.hasAccessList(component) {
            return .say(
                "let \(name) enter \(Printable.name(component)) and write there: its mode is also the mask of its access list",
                see: .showAccessList(of: component))
        }
        if status.owner == identity.user { return ofMode(of: component, for: identity.user) }
        if status.owner == 0 {
            return .say(
                "\(Printable.name(component)) belongs to root and is closed to \(name): write a path in a directory that this user owns"
            )
        }
        return ofAnother(Owner.argument(user: status.owner), component, path)
    }

    /// For a file or directory of another user: use that user's writer, if only trusted users could have put it on the
    /// configured path. If another user could have put it there, or a link leads to it, no secret may be written.
    private static func ofAnother(_ owner: String, _ place: String, _ path: AbsolutePath) -> Remedy? {
        guard path.description == place || path.description.hasPrefix(place + "/"), let place = AbsolutePath(place),
            let parent = FileStatus.following(place.directory.description)
        else { return nil }
        return parent.mode & 0o022 == 0 ? writtenAs(owner) : .strangers(place.description)
    }

    /// The remedy for a link on the path to a file of `user` that belongs to another user, as its target does; nil if there is no
    /// such link, or a stranger may have put it there.
    package static func ofForeignLink(on path: AbsolutePath, for user: UInt32) -> Remedy? {
        let identity = Identity(user: user, group: user)
        do throws(FileError) {
            _ = try GuardedPath.home(of: path.description, as: identity)
            return nil
        } catch {
            return error.code == .foreignOwner ? remedy(error, for: path, as: identity) : nil
        }
    }

    /// Whether a user's writer can be started: systemd runs no unit as a user without an entry in the account database.
    ///
    /// - Parameter user: a name or number. True if the database cannot be queried, and without systemd.
    package static func maySystemdRun(_ user: String) -> Bool {
        !SystemManager.isSystemd || !Accounts.isUnknown(user: user)
    }

    /// The remedy where ``maySystemdRun(_:)`` is false.
    package static func accountWords(_ user: String) -> String {
        "systemd runs no writer as \(Owner.words(userNamed: user)) without an account here: create one with this number"
    }

    /// For a file that by its name runs only with the content that was approved; nil for another one. The content is not known here.
    package static func ofApproved(_ path: AbsolutePath) -> Remedy? {
        ApprovedFile(path.name, []).map { .say($0.advice) }
    }

    /// Without systemd a daemon that runs as root starts the user writer itself.
    private static func writtenAs(_ owner: String) -> Remedy {
        // Root's files are not written as root: the administrator must give a file back after overwriting it as root.
        guard owner != "root" else { return .say("root owns it now: give it back to the user that it is written for") }
        guard maySystemdRun(owner) else { return .say(accountWords(owner) + ", and write \"as:\" and its name") }
        let owner = Owner.setting(userNamed: owner)
        let words = "write \"as: \(owner)\" under this output"
        return SystemManager.isSystemd
            ? .say(
                words + ", start its writer and reload",
                see: .listen(PackageUnit.writerSocket(of: owner))?.then(.reload) ?? .reload)
            : .say(words + " and reload", see: .reload)
    }
}
