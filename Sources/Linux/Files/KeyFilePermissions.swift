internal import Failures
import SystemPackage

/// The users that may use a key file. Its owner, which is root or the acting user, may read and write it. The acting user's
/// primary group may read it. Below a trusted directory any user may read it. If it is judged for the service's user, that user and
/// that user's primary group may as well.
package struct KeyFilePermissions {
    private let identity: Identity
    private let isSecret: (String) -> Bool

    /// - Parameter isSecret: whether the file at a real path is certainly a key's or a passphrase's; nil: whether it begins as a
    ///   private key does.
    init(_ identity: Identity, isSecret: ((String) -> Bool)? = nil) {
        self.identity = identity
        self.isSecret = isSecret ?? Self.beginsAsPrivateKey
    }

    /// In bytes: the longest first line of such a file, `-----BEGIN ENCRYPTED PRIVATE KEY-----`. The bytes after a shorter one
    /// within this length are the same in every key.
    private static let longestBegin = 37

    /// Whether the file at the real path begins as PEM of a private key does; false if it cannot be read.
    package static func beginsAsPrivateKey(_ path: String) -> Bool {
        let text = String(decoding: ForeignFile.bytes(of: path, count: longestBegin) ?? [], as: UTF8.self)
        return text.hasPrefix("-----BEGIN ") && text.contains("PRIVATE KEY-----")
    }

    func check(_ status: FileStatus, _ path: String, _ list: AccessList?) throws(FileError) {
        let isBelowTrustedDirectory = identity.trusts(place: FilePath(path))
        try check(list, status, path, readersToo: !isBelowTrustedDirectory)
        let mode = status.othersMode(with: list)
        let detail: String
        if mode & 0o022 != 0 {
            detail = "the file is writable by \(PathRule.writers(mode))"
        } else if isBelowTrustedDirectory {
            return
        } else if mode & 0o007 != 0 {
            detail = "every user can read the file"
        } else if mode & 0o070 != 0, !identity.mayReadKeys(status.group) {
            detail = "the file can be read by the group \(Owner.describe(group: status.group))"
        } else {
            return
        }
        throw FileError(
            .notGuarded, at: path, detail: detail, remedy: remedy(status, path, isSecret: isSecret(path)))
    }

    private func check(
        _ list: AccessList?, _ status: FileStatus, _ path: String, readersToo: Bool
    ) throws(FileError) {
        let strangers = list?.strangers(to: identity, group: status.group, readersToo: readersToo) ?? []
        guard let stranger = strangers.first else { return }
        // Another program may read the key by such an entry, which no command takes from it.
        if let reader = strangers.first(where: \.mayRead) {
            throw FileError(
                .notGuarded, at: path, detail: stranger.detail, remedy: .say(copying(status, from: reader.words)))
        }
        // The entry of the file's own group cannot be removed, so there is no command.
        let entries = strangers.compactMap(\.entry)
        let key = PathComponent(FilePath(path), status, for: identity)
        throw FileError(
            .notGuarded, at: path, detail: stranger.detail,
            remedy: .say(
                "remove them from its access list",
                run: entries.count == strangers.count && isSecret(path)
                    ? .removeEntries(entries, ofFile: key) : nil))
    }

    /// For a file that the acting user may not read.
    func remedyForReader(_ status: FileStatus, _ path: String) -> Remedy {
        // The service's user may well be able to read it, and no advice may take it from that user.
        if identity.user != 0, let service = identity.service, ![service.id, status.owner].contains(identity.user) {
            return .readAsAnotherUser
        }
        return remedy(status, path, isSecret: false)
    }

    /// The service's user if it reads the key; nil if the acting user does. A user's own file is that user's business.
    private func readingService(of status: FileStatus) -> Account? {
        identity.user != 0 && status.owner == identity.user ? nil : identity.serviceReading(status)
    }

    /// The advice for a file that another program may read in a way that is not allowed here.
    ///
    /// - Parameter others: the program's user or group, in words.
    private func copying(_ status: FileStatus, from others: String) -> String {
        let reader = Owner.words(user: readingService(of: status)?.id ?? identity.user)
        return "copy it to a new file that only \(reader) may read, and name that one, because \(others) may need "
            + "this one"
    }

    /// Takes a key or its passphrase from all users but the one that works with it. There is no command for a file that may be
    /// another file of the machine, such as /etc/shadow, named by a wrong path.
    ///
    /// - Parameter isSecret: whether the file was read and certainly is one.
    func remedy(_ status: FileStatus, _ path: String, isSecret: Bool) -> Remedy {
        let key = PathComponent(FilePath(path), status, for: identity)
        let service = readingService(of: status)
        let reader = service?.id ?? identity.user
        let group = service?.primaryGroup ?? identity.group
        let name = Owner.argument(user: reader)
        let advice = "let only \(Owner.words(user: reader)) read it"
        // It may be the group of another daemon, which no command may take the key from.
        if key.isOpen(toGroupOtherThan: [identity.group, identity.service?.primaryGroup].compactMap(\.self)) {
            let group = Owner.words(groupNamed: Owner.argument(group: status.group))
            let copy = copying(status, from: group)
            return .say(
                identity.user == 0 ? "\(copy); if the daemon runs as a user of \(group), run this as that user" : copy)
        }
        if reader == 0 || status.owner == reader || status.group == group && status.mode & 0o040 != 0 {
            let mayStay = status.group == group && status.owner != reader
            return .say(
                "remove the permissions of all other users", run: isSecret ? .guardKey(key, group: mayStay) : nil)
        }
        // The group is the service's own only under the service's name. A file that has this group was meant for it.
        let isServices = name == Identity.serviceName && Owner.argument(group: group) == name
        guard isServices, isSecret || status.group == group else {
            return .say(advice + (isServices ? ": \(Owner.words(groupNamed: name)), mode 0640" : ""))
        }
        return .say(advice, run: .shareKey(key, withServiceGroup: name))
    }
}
