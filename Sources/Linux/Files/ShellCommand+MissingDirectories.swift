package import Failures
import SystemPackage

extension ShellCommand {
    /// Creates the missing directories of the absolute path `directory` for the user that will write there. If a reboot removes
    /// them, it does so at every boot.
    ///
    /// - Parameter group: nil: the one that it gets from the directory above.
    package static func making(
        _ directory: String, for user: UInt32, mode: String = "0755", group: String? = nil
    ) throws(DirectoryObstacle) -> ShellCommand {
        guard let owner = PathComponent.User(user) else { throw .other }
        var missing = Array(FilePath(directory).components)[...]
        var above = FilePath("/")
        while let name = missing.first, !FileStatus.isAbsent(above.appending(name).string) {
            above.append(name)
            missing.removeFirst()
        }
        guard let first = missing.first else { throw .other }
        let keepers = user == 0 ? [PathComponent.User.root] : [.root, owner]
        for keeper in keepers {
            guard let parent = PathComponent.walk(to: above.string, kept: keeper) else { continue }
            // A link that leads nowhere has the name already.
            guard parent.lets(user), parent.isFree(first) else { throw .other }
            let component = PathComponent(
                path: parent.path.string, kind: .directory, owner: parent.status.owner, group: parent.status.group,
                mode: parent.status.mode, isTrusted: true, hasAccessList: parent.hasAccessList, keeper: keeper)
            let path = parent.path.pushing(FilePath(root: nil, missing)).string
            if let made = UnitDirectory.of(path, missingIn: component.path) { throw .ofUnit(made) }
            guard component.isKeptDirectory else { throw .open(component.path) }
            let isVolatile = FileSystems.isVolatile(component.path)
            let command = makeDirectory(
                path, from: parent.path.appending(first).string, in: component, for: owner, mode: mode, group: group,
                isVolatile: isVolatile)
            guard let command else { throw isVolatile ? .volatile : .other }
            return command
        }
        throw .other
    }
}

extension GuardedDirectory {
    fileprivate func isFree(_ name: FilePath.Component) -> Bool {
        do throws(FileError) { return try status(of: name) == nil } catch { return false }
    }

    /// Whether an access list grants more than its mode or passes to new files in it. Also true if that is unknown.
    fileprivate var hasAccessList: Bool {
        let attributes = ExtendedAttributes(of: descriptor.raw, path: path.string)
        do throws(FileError) {
            for name in [AccessList.attribute, AccessList.defaultAttribute] {
                if try attributes.value(name) != nil { return true }
            }
            return false
        } catch {
            return true
        }
    }

    /// Whether the mode bits of it and all directories above let a user without further groups pass.
    fileprivate func lets(_ user: UInt32) -> Bool {
        let bits: UInt16 = status.owner == user ? 0o100 : 0o001
        return user == 0 || (status.mode & bits != 0 && above?.lets(user) != false)
    }
}
