internal import AppleClientSecret
import Config
internal import Failures
import Linux
import Model
import Outputs
internal import SystemPackage
internal import Systemd

/// The remedies for failures of a user writer, and for those that it reports.
enum UserWriterRemedies {
    /// The remedy when the writer for `user` met `code`; nil: the general remedy for that code applies.
    ///
    /// The code is another user's claim. So a command is built only from this process's own findings.
    ///
    /// - Parameter group: the one that the configuration gives the file; nil: the file keeps its own.
    static func remedy(
        _ code: Failure.Code, _ user: String, _ path: AbsolutePath, _ configuration: String, group: String? = nil,
        cause: Int32? = nil
    ) -> Remedy? {
        switch code {
        case .writerMissing: missing(PackageUnit.writerSocket(of: user), user)
        case .writerSilent where !OutputRemedy.maySystemdRun(user): .say(OutputRemedy.accountWords(user))
        case .writerSilent where cause == ErrorNumber.timedOut:
            .forStuckService(PackageUnit.writer(of: user))
        case .writerSilent, .writerGarbled:
            .say("read its log", see: .journal(of: PackageUnit.writer(of: user)))
        case .writerUnconfigured: readable(configuration, user)
        case _ where code.traits.contains(.ofLimit):
            ProcessLimit(reached: cause, isStart: code == .outOfTasks)?.remedy(for: PackageUnit.writer(of: user))
        default: link(on: path, user) ?? remedy(onWay: code, user, path, group)
        }
    }

    /// The remedy if no link has led away.
    private static func remedy(
        onWay code: Failure.Code, _ user: String, _ path: AbsolutePath, _ group: String?
    ) -> Remedy? {
        let home = home(of: path, user)
        return switch code {
        case .permissionDenied: denied(path, home, user)
        case .directoryMissing: making(path.directory, for: user)
        case .readOnlyFileSystem: readOnly(home, user)
        case .diskFull: .freeSpace(in: home.description)
        case .quotaExceeded: .freeSpace(in: home.description, orRaiseQuotaOf: Owner.words(userNamed: user))
        case .foreignOwner: foreign(path, user)
        case .untrustedLink: rootsOwn(path, user)
        case .groupNotPermitted: giving(path, to: group, user)
        case .outputForeign: OutputRemedy.ofApproved(path)
        default: nil
        }
    }

    /// What is read-only for this process outside of any unit is so for all. A unit's process knows only of file systems: it does
    /// not see the machine's mounts.
    private static func readOnly(_ home: AbsolutePath, _ user: String) -> Remedy {
        let cause = ReadOnlyCause.of(RealPath.of(home.description))
        switch cause {
        case .fileSystem(let point)?:
            return OutputRemedy.ofReadOnly(fileSystem: point, otherwise: OutputRemedy.anotherPath)
        case .mount(let point)? where !OwnUnit.hasStartedProcess:
            // The next writer sees it.
            return .say(
                "the mount at \(Printable.name(point)) is read-only: mount it writable, or \(OutputRemedy.anotherPath)")
        case .mount?, .sandbox?, nil:
            return OutputRemedy.ofReadOnly(home, for: PackageUnit.writer(of: user))
        }
    }

    /// Lets the user's writer give the file to the group by which an application may read it. root gets no groups of the account
    /// database from systemd.
    ///
    /// A file of another user than root may have its group from that user. The command is then only shown, unless the configuration
    /// names the group.
    private static func giving(_ path: AbsolutePath, to configured: String?, _ user: String) -> Remedy? {
        let name = Owner.words(userNamed: user)
        let kept = FileStatus.following(path.description)?.group
        guard let group = configured ?? kept.map({ Owner.argument(group: $0) }) else { return nil }
        if Owner.isRoots(group: group) { return Owner.leavingRoots(name) }
        let wanted = Owner.words(groupNamed: group)
        guard let command = Owner.letGive(PackageUnit.writer(of: user), to: group) else {
            return .say("add \(name) to \(wanted) and restart its writer")
        }
        return configured != nil || id(of: user) == 0
            ? .say("let the writer of \(name) give files to \(wanted)", run: command)
            : .say("if \(name) may use \(wanted), let its writer give files to that group", see: command)
    }

    private static func missing(_ socket: String, _ user: String) -> Remedy {
        SocketUnit.remedy(of: socket)
            ?? .run(
                .listen(socket),
                otherwise: "start the writer of \(Owner.words(userNamed: user)), with its socket next to the daemon's")
    }

    private static func id(of user: String) -> UInt32? { try? Accounts.userID(user) }

    /// The directory in which the file is replaced, as far as this process finds it.
    private static func home(of path: AbsolutePath, _ user: String) -> AbsolutePath {
        id(of: user).flatMap { FileHome.directory(of: path, forUser: $0) } ?? path.directory
    }

    /// Removes a link on the way: its owner chose the target, and so its errors.
    private static func link(on path: AbsolutePath, _ user: String) -> Remedy? {
        id(of: user).flatMap { GuardedPath.untrustedLink(on: path.description, for: $0) }
    }

    private static func making(_ directory: AbsolutePath, for user: String) -> Remedy {
        guard let id = id(of: user) else {
            return .say("create \(Printable.name(directory.description)) for \(Owner.words(userNamed: user))")
        }
        return OutputRemedy.making(directory, for: id)
    }

    /// The directories above a path, from the root on, and above the links on it and their targets.
    private static func ways(to path: AbsolutePath) -> [AbsolutePath] {
        let places = [path] + LinkChain.places(of: path.description).compactMap { AbsolutePath($0) }
        return places.flatMap { place in
            var ways = [place.directory]
            while let last = ways.last, last.description != "/" { ways.append(last.directory) }
            return ways.reversed()
        }
    }

    /// Names the directory that is closed to `user`.
    private static func denied(_ path: AbsolutePath, _ directory: AbsolutePath, _ user: String) -> Remedy {
        let look = ShellCommand.listWay(to: path.description)
        if let closed = closedWay(to: path, user) {
            return .say(
                "let \(Owner.words(userNamed: user)) enter \(Printable.name(closed.description)), or write another path",
                see: look)
        }
        let name = Printable.name(directory.description)
        guard FileStatus.following(directory.description)?.owner == 0 else {
            return .say(
                "let \(Owner.words(userNamed: user)) enter \(name) and write there, or write another path", see: look)
        }
        return .say(
            "\(name) belongs to root: write a path in a directory that \(Owner.words(userNamed: user)) owns", see: look)
    }

    /// A file that another user has written over the one of `user`, as root does with `sudo` and an editor.
    private static func foreign(_ path: AbsolutePath, _ user: String) -> Remedy {
        rootsOwn(path, user)
            ?? id(of: user).flatMap { OutputRemedy.ofForeignLink(on: path, for: $0) }
            ?? .say("check its owner, and write another path or remove it", see: .list(path.description))
    }

    /// Nil if it is not only root's own file that is in the way. A hard link to another one would be given away with it.
    private static func rootsOwn(_ path: AbsolutePath, _ user: String) -> Remedy? {
        id(of: user).flatMap { GuardedPath.rootsOwn(path.description, for: $0) }.map { file in
            .say(
                "root owns \(Printable.name(file)) now: if its content is meant for \(Owner.words(userNamed: user)), give it back",
                see: .list(file))
        }
    }

    /// The first directory on the way that the user may not enter, as far as this process can tell.
    private static func closedWay(to path: AbsolutePath, _ user: String) -> AbsolutePath? {
        ways(to: path).first { has(rights: 1, to: $0.description, user) == false }
    }

    private static func readable(_ configuration: String, _ user: String) -> Remedy {
        let name = Owner.words(userNamed: user)
        // No other user needs to read the content of a closed directory, so no command opens it.
        if let closed = AbsolutePath(configuration).flatMap({ closedWay(to: $0, user) }) {
            return .say(
                "let \(name) enter \(Printable.name(closed.description))", see: .listWay(to: configuration))
        }
        guard let path = AbsolutePath(configuration) else { return .say("let \(name) read the configuration") }
        var files = [configuration]
        let additions = ConfigurationParser.directory(of: path).description
        if FileStatus.following(additions) != nil { files.append(additions) }
        if let names = try? TrustedFile.names(in: additions, ending: ".yaml", as: .current()) {
            files += names.map { additions + "/" + $0 }
        }
        // To read a file, or to enter and list a directory.
        let readable = files.map { has(rights: FileStatus.following($0)?.kind == .directory ? 5 : 4, to: $0, user) }
        // What the user may read is refused, and the writer has found no copy of the last good one that it may use.
        guard let closed = readable.firstIndex(of: false) ?? readable.firstIndex(of: nil) else {
            return .say("correct the configuration and reload it", see: .check)
        }
        // Its text may hold a password, in a template or a comment: no command opens it to more users.
        let (verb, mode) = FileStatus.forGroup(at: files[closed])
        return .say(
            "let \(name) \(verb) \(Printable.name(files[closed])): give it a group that \(name) and the daemon's user are in, "
                + "and mode \(mode)", see: .listWay(to: files[closed]))
    }

    /// Whether a user has all these rights (4: to read, 1: to enter) to a file or directory, by its owner, group and mode; nil if
    /// that is not known.
    private static func has(rights: UInt16, to path: String, _ user: String) -> Bool? {
        guard let status = FileStatus.following(path) else { return nil }
        func give(_ shift: UInt16) -> Bool { status.mode >> shift & rights == rights }
        if give(6), give(3), give(0) { return true }
        guard let id = id(of: user), !FileStatus.hasAccessList(path) else { return nil }
        if id == 0 { return true }
        if status.owner == id { return give(6) }
        let isMember = (try? Accounts.user(id: id)).map { Accounts.isMember($0, of: status.group) } ?? false
        return give(isMember ? 3 : 0)
    }
}
