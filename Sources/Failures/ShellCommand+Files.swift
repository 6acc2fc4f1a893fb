/// Commands that make, change or remove directories, links and files.
extension ShellCommand {
    // MARK: Directories and links

    /// Creates a directory that does not exist and those above it, and gives it to `owner`. `mkdir` fails if there is one by now,
    /// and nothing is given away then. Only its creator can put something below the first.
    ///
    /// - Parameters:
    ///   - first: the highest of the missing directories, in `parent`.
    ///   - parent: the deepest directory that exists.
    ///   - group: nil: the one that it gets from the directory above.
    ///   - isVolatile: whether a reboot removes it: then it is described in ``runtimeDirectories`` too, once it is there.
    package static func makeDirectory(
        _ path: String, from first: String, in parent: PathComponent, for owner: PathComponent.User,
        mode: String = "0755", group: String? = nil, isVolatile: Bool = false
    ) -> ShellCommand? {
        guard let keeper = parent.keeper, parent.isKeptDirectory, keeper.id == owner.id || keeper.id == 0 else {
            return nil
        }
        let isOne = path == first
        let made = ShellCommand("mkdir -m \(isOne ? mode : "0755") \(first)")?.run(as: keeper)
        // install gives the directories between the two mode 0755 with any umask.
        let all = isOne ? made : made?.then(ShellCommand("install -d -m \(mode) \(path)")?.run(as: keeper))
        let holder = owner.name + (group.map { ":" + $0 } ?? "")
        let given =
            keeper.id == owner.id && group == nil
            ? all : all?.then(ShellCommand("chown \(holder) \(path)")?.run(as: keeper))
        guard isVolatile else { return given }
        // At boot, root creates it by its path and gives its content away. So only root may be able to put something there.
        guard CommandContext.current.hasSystemd, keeper.id == 0 else { return nil }
        let line = UnitFileLine.directory(path, mode: mode, owner: owner.name, group: group ?? "root")
        // The directory was removed since.
        if CommandContext.current.missing([line], from: runtimeDirectories).isEmpty { return given }
        return given?.then(append([line], to: runtimeDirectories)?.readableByAll)
    }

    /// The file that describes the directories of the administrator's outputs to the next boot (tmpfiles.d(5)). If two files
    /// describe one path, the first by name counts, which has to be the shipped one.
    package static let runtimeDirectories = "/etc/tmpfiles.d/clientsecretd.outputs.conf"

    /// Creates the directories that are shipped with the service.
    package static let createShippedDirectories = ShellCommand(constant: "systemd-tmpfiles --create clientsecretd.conf")

    /// Removes a link, if it still is one.
    package static func removeLink(_ link: PathComponent) -> ShellCommand? {
        guard link.kind == .link, let keeper = link.keeper else { return nil }
        return keeper.id == 0
            ? ShellCommand("test -L \(link.path) && rm \(link.path)")
            : ShellCommand("find \(link.path) -maxdepth 0 -type l -delete")?.run(as: keeper)
    }

    // MARK: Files

    /// Gives a file that the configuration names the mode that the configuration has for it.
    ///
    /// - Parameter mode: in octal.
    package static func setMode(_ mode: String, of file: PathComponent) -> ShellCommand? {
        guard file.isKeptFile, let keeper = file.keeper, !file.hasAccessList else { return nil }
        return ShellCommand("chmod \(mode) \(file.path)")?.run(as: keeper)
    }

    /// Takes the right to write a file from all but its owner.
    package static func removeWriting(from file: PathComponent) -> ShellCommand? {
        guard file.isKeptFile, let keeper = file.keeper, file.mode & 0o022 != 0 else { return nil }
        let classes = (file.mode & 0o020 != 0 ? "g" : "") + (file.mode & 0o002 != 0 ? "o" : "")
        return ShellCommand("chmod \(classes + "-w") \(file.path)")?.run(as: keeper)
    }

    /// Removes all rights in a key file from all users but its owner and, if `group` may keep them, its group.
    package static func guardKey(_ key: PathComponent, group mayRead: Bool) -> ShellCommand? {
        guard key.isKeptFile, let keeper = key.keeper, !key.hasAccessList else { return nil }
        let mode = key.mode & (mayRead ? 0o040 : 0) | 0o600
        return ShellCommand("chmod \("0" + String(mode, radix: 8)) \(key.path)")?.run(as: keeper)
    }

    /// Lets only the service read a key that root owns, by the service's own group. The caller has looked whether another group
    /// may read it (``PathComponent/isOpen(toGroupOtherThan:)``).
    package static func shareKey(_ key: PathComponent, withServiceGroup group: String) -> ShellCommand? {
        guard key.isKeptFile, key.keeper?.id == 0, key.owner == 0, !key.hasAccessList else { return nil }
        // The old group loses its rights before the new one gets any.
        return ShellCommand("chmod 0600 \(key.path) && chgrp \(group) \(key.path) && chmod 0640 \(key.path)")
    }

    /// Removes these entries from a file's access list (setfacl(1)), such as `u:backup`. With -n the mask stays: a new one could
    /// give other entries more rights.
    package static func removeEntries(_ entries: [String], ofFile file: PathComponent) -> ShellCommand? {
        guard file.isKeptFile, let keeper = file.keeper, !entries.isEmpty else { return nil }
        return ShellCommand("setfacl -n -x \(entries.joined(separator: ",")) \(file.path)")?.run(as: keeper)
    }

    /// Removes these entries from a directory's access list. Nil removes the right to write from the entry of the directory's
    /// group. Other entries do not change, unlike with chmod(1). An entry may be needed to read, so the operator decides.
    package static func removeWriters(_ entries: [String?], ofDirectory directory: PathComponent) -> ShellCommand? {
        guard directory.kind == .directory, directory.isTrusted, let keeper = directory.keeper else { return nil }
        let named = entries.compactMap(\.self).joined(separator: ",")
        let removal =
            named.isEmpty ? nil : ShellCommand("setfacl -n -x \(named) \(directory.path)")?.run(as: keeper)
        guard entries.contains(nil) else { return removal }
        let change = ShellCommand("setfacl -n -m g::rx \(directory.path)")?.run(as: keeper)
        return removal.map { $0.then(change) } ?? change
    }

    /// Writes a key file again, next to it and with its owner and mode. The result replaces the file only if all steps succeed.
    /// The old file's copy stays, because it may be the only one. No existing file is overwritten, and none that another user has
    /// put there since gets the key (`--remove-destination`). The key is in no command line.
    package static func rewriteKey(_ path: String, by conversion: KeyConversion) -> ShellCommand? {
        let (copy, new) = (conversion.copy(of: path), path + ".new")
        return ShellCommand("test ! -e \(copy)")?.then(writeKey(from: path, to: new, by: conversion))?
            .then(ShellCommand("cp -p --remove-destination \(path) \(copy) && mv \(new) \(path)"))
    }

    /// Writes the key of a file that holds other text, too, into a new file next to it, with its owner and mode.
    package static func extractKey(_ path: String, by conversion: KeyConversion) -> ShellCommand? {
        writeKey(from: path, to: path + ".key", by: conversion)
    }

    private static func writeKey(from path: String, to new: String, by conversion: KeyConversion) -> ShellCommand? {
        guard let converted = conversion.command(from: path, to: new),
            let undone = ShellCommand("{ rm \(new); false; }")
        else { return nil }
        return ShellCommand("test ! -e \(new) && cp -p --remove-destination \(path) \(new)")?
            .then(converted.or(undone).grouped)
    }

    /// Lets all users execute a program that all may read already.
    package static func makeExecutable(_ program: PathComponent) -> ShellCommand? {
        guard program.isKeptFile, let keeper = program.keeper, program.mode & 0o004 != 0 else { return nil }
        return ShellCommand("chmod a+x \(program.path)")?.run(as: keeper)
    }

    /// Takes the immutable or the append-only attribute from a file or directory in root's directories.
    package static func removeMark(_ mark: String, from file: PathComponent) -> ShellCommand? {
        let isOwnDirectory = file.kind == .directory && file.isTrusted && file.mode & 0o022 == 0
        guard file.isKeptFile || isOwnDirectory, file.keeper?.id == 0 else { return nil }
        return ShellCommand("chattr \("-" + mark) \(file.path)")
    }

    /// Adds a rule to a polkit file, which polkit reads at once.
    package static func addPolkitRule(_ rule: String, to file: String) -> ShellCommand? {
        append([rule], to: file)?.readableByAll
    }

    /// Adds lines to a text file in which an empty line means nothing, because the file may end without a line break.
    static func append(_ lines: [String], to file: String) -> ShellCommand? {
        ShellCommand(#"printf '%s\n' \#([""] + lines) >>\#(file)"#)
    }

    /// Copies a key to the place from which the service reads it: root's, and readable by the service's own group only. An
    /// existing file is not replaced.
    package static func copyKey(_ key: String, to path: String, forServiceGroup group: String) -> ShellCommand? {
        ShellCommand("test ! -e \(path) && install -o root -g \(group) -m 0640 \(key) \(path)")
    }
}

extension PathComponent {
    /// Whether it is a directory in which only its keeper and root create names, and new files get no access list.
    package var isKeptDirectory: Bool {
        kind == .directory && (owner == keeper?.id || owner == 0) && mode & 0o022 == 0 && !hasAccessList
    }

    /// Whether a group has rights to the file that is neither root's nor one of these. Another program may read the file by that
    /// group, so no command removes the rights.
    package func isOpen(toGroupOtherThan groups: [UInt32]) -> Bool {
        mode & 0o070 != 0 && group != 0 && !groups.contains(group)
    }

    /// Whether it is a file that no stranger placed or can replace.
    var isKeptFile: Bool { kind == .file && keeper != nil && isTrusted }
}
