internal import Failures
internal import Glibc
package import Linux
package import Model
internal import Outputs

/// Why a state directory cannot be used, and the operator's remedy.
extension StateDirectory {
    /// The failure of a state directory that an access has found to be unusable.
    static func unusable(_ error: FileError, _ path: AbsolutePath, for user: UInt32) -> Failure {
        // The message names the path component at fault.
        let failure = Failure(error, at: AbsolutePath(error.path) ?? path)
        // The process lacks something, and not the directory.
        if failure.code.traits.contains(.ofLimit) { return failure }
        return Failure(
            .stateUnusable, at: .path(path), detail: failure.message,
            remedy: remedy(error, path, for: user) ?? failure.remedy)
    }

    /// Whether it is `StateDirectory=` of the daemon's unit. A command knows only the package's unit.
    private static func isMadeBySystemd(_ path: AbsolutePath) -> Bool {
        // If it is a link, systemd does not even start the service.
        if ForeignFile.link(path.description) != nil { return false }
        if let ofSystemd = unsafe getenv("STATE_DIRECTORY").map({ unsafe String(cString: $0) }) {
            return ofSystemd.split(separator: ":").first == path.description[...]
        }
        let context = CommandContext.current
        return context.isOfPackage && path.description == "/var/lib/clientsecretd"
    }

    /// systemd creates the service's `StateDirectory=` again when the service starts. If the directory belongs to another user,
    /// systemd gives all of it to the service's user. The service itself cannot, because the directory above is read-only to it.
    /// Files that another user owns in a directory of the service stay so, and no command gives them away.
    ///
    /// Nil if the failure is of another kind.
    private static func remedyOfSystemds(_ error: FileError, _ path: AbsolutePath, for user: UInt32) -> Remedy? {
        let ofRights: [FailureCode] = [
            .missing, .directoryMissing, .readOnlyFileSystem, .permissionDenied, .foreignOwner,
        ]
        guard ofRights.contains(error.code) else { return nil }
        let name = Owner.words(user: user)
        guard let status = FileStatus.following(path.description) else {
            return createdAgain
        }
        guard status.owner == user else { return .say("have systemd give it back to \(name)", run: .restart()) }
        if let owner = FileStatus.following(error.path)?.owner, owner != user {
            return .say(
                "\(Owner.words(user: owner)) owns \(Printable.name(error.path)): give it back to \(name), with all that "
                    + "is in it")
        }
        // Only a start gives the sandbox a way to write there; nothing else about an own directory is systemd's.
        guard error.code == .readOnlyFileSystem, ReadOnlyCause.of(RealPath.of(path.description)) == .sandbox else {
            return nil
        }
        return createdAgain
    }

    /// The remedy if the directory cannot be made writable.
    package static let anotherDirectory = "name another directory as \"state_dir\""

    private static var createdAgain: Remedy { .say("have systemd create it again", run: .restart()) }

    private static func remedy(_ error: FileError, _ path: AbsolutePath, for user: UInt32) -> Remedy? {
        if [.isDirectory, .notADirectory, .notARegularFile].contains(error.code) {
            return .say("look at it, then remove it, or \(anotherDirectory)")
        }
        let isOpened = isMadeBySystemd(path)
        if isOpened, let remedy = remedyOfSystemds(error, path, for: user) { return remedy }
        guard [.missing, .directoryMissing, .readOnlyFileSystem, .permissionDenied].contains(error.code),
            error.remedy == nil
        else { return error.remedy }
        guard let status = FileStatus.following(path.description) else {
            return OutputRemedy.making(path, for: user, mode: "0700")
        }
        guard status.owner == user, (FileStatus.following(error.path) ?? status).owner == user else {
            return .say("name a directory that belongs to \(Owner.words(user: user)) as \"state_dir\"")
        }
        let real = RealPath.of(path.description)
        if let cause = ReadOnlyCause.of(real) {
            return OutputRemedy.ofReadOnly(
                cause, real, for: user, isOpened: isOpened || !OwnUnit.hasStartedProcess, otherwise: anotherDirectory)
        }
        return OutputRemedy.ofMode(of: error.path, for: user)
    }

    /// Why the directory, or that of the records in it, could not be used; nil when they could. Changes nothing.
    package static func problem(with path: AbsolutePath, as identity: Identity) -> Failure? {
        if let failure = problem(withDirectory: path, as: identity) { return failure }
        let records = "\(path)/clients"
        // A missing one is created.
        guard FileStatus.following(records) != nil else { return nil }
        do throws(FileError) {
            let real = try GuardedPath.directory(records, as: identity)
            return WritableDirectory.problem(with: real, as: identity).map { unusable($0, path, for: identity.user) }
        } catch {
            return unusable(error, path, for: identity.user)
        }
    }

    private static func problem(withDirectory path: AbsolutePath, as identity: Identity) -> Failure? {
        // A missing one is created later, which needs a writable parent.
        let isThere = FileStatus.following(path.description) != nil
        let place = isThere ? path : path.directory
        func making() -> Remedy? {
            if isThere { return nil }
            return isMadeBySystemd(path) ? createdAgain : OutputRemedy.making(path, for: identity.user, mode: "0700")
        }
        do {
            let directory = try GuardedPath.directory(place.description, as: identity)
            guard let error = WritableDirectory.problem(with: directory, as: identity) else { return nil }
            guard [.readOnlyFileSystem, .permissionDenied].contains(error.code) else {
                // The remedy is for what would be written there: the disk may be mounted on the directory itself.
                let remedy = Failure(error, at: place.appending("clients") ?? place).remedy
                return Failure(
                    .stateUnusable, at: .path(path), detail: Failure(error, at: place).message, remedy: remedy)
            }
            return Failure(
                .stateUnusable, at: .path(path), cause: error.cause, detail: isThere ? nil : directory,
                remedy: isThere ? remedy(error, path, for: identity.user) : making())
        } catch {
            let isMissing = [.missing, .directoryMissing].contains(error.code)
            return Failure(
                .stateUnusable, at: .path(path), detail: Failure(error, at: place).message,
                remedy: error.remedy ?? (isMissing ? making() : nil))
        }
    }
}
