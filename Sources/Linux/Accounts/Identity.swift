import Glibc
package import SystemPackage

/// The user that the rules on owners and groups apply to, which may differ from the one that runs the code.
///
/// A value that is not read from the process. So the same rules serve the daemon, a user writer under another user, and a check
/// for another user.
package struct Identity: Hashable, Sendable {
    package let user: UInt32
    package let group: UInt32
    /// Supplementary groups.
    package let groups: [UInt32]
    /// The user that called the program through sudo, when it runs as root. It is trusted, because it can become root.
    package let caller: UInt32?
    /// Directories that another program protects, such as an orchestrator. Below them nothing checks which other users may write
    /// to an output's directory or read a key.
    package private(set) var trustedDirectories: [FilePath]
    /// The service's user, whose files are judged: the same files are trusted as by that user.
    package private(set) var service: Account?
    /// Whether the service's user is not known to read the judged file. It may if the file was prepared for it, but no command
    /// gives it another file.
    package private(set) var isServiceUncertain = false

    /// `User=` and `Group=` of the package's unit.
    package static let serviceName = "clientsecretd"

    package init(
        user: UInt32, group: UInt32, groups: [UInt32] = [], caller: UInt32? = nil, trustedDirectories: [FilePath] = [],
        service: Account? = nil
    ) {
        self.user = user
        self.group = group
        self.groups = groups
        self.caller = caller
        self.trustedDirectories = trustedDirectories
        self.service = service
    }

    /// Only root: the caller of sudo is not trusted.
    package static let root = Identity(user: 0, group: 0)

    /// The same, with these trusted directories.
    package func trusting(_ directories: [FilePath]) -> Identity {
        var identity = self
        identity.trustedDirectories = directories
        return identity
    }

    /// Whether a real path is a trusted directory or is below one.
    package func trusts(place path: FilePath) -> Bool {
        trustedDirectories.contains { path.starts(with: $0) }
    }

    /// The process's effective user and groups, and the caller that sudo names in SUDO_UID.
    package static func current() -> Identity {
        var groups: [gid_t] = []
        let count = getgroups(0, nil)
        if count > 0 {
            groups = Array(repeating: 0, count: Int(count))
            groups.removeLast(groups.count - Int(max(0, unsafe getgroups(count, &groups))))
        }
        var caller: UInt32?
        if geteuid() == 0, let text = unsafe getenv("SUDO_UID") {
            caller = unsafe UInt32(String(cString: text))
        }
        return Identity(user: geteuid(), group: getegid(), groups: groups, caller: caller)
    }

    /// The same on behalf of the service's user, if root acts and there is such a user.
    package func acting(for service: Account?) -> Identity { user == 0 ? judging(filesOf: service) : self }

    /// The same about files that are there for the service's user, if there is one, also if another user than root acts.
    package func judging(filesOf service: Account?) -> Identity {
        var identity = self
        identity.service = service
        return identity
    }

    /// The same about a file that the service's configuration does not name: it may be there for the service's user.
    package func judging(fileOfPossibly service: Account?) -> Identity {
        var identity = judging(filesOf: service)
        identity.isServiceUncertain = true
        return identity
    }

    /// The user that also reads a key, next to the acting one: the service's, if its configuration names the file, or if the file
    /// has that user's group and so was prepared for it. Nil if only the acting user reads it.
    func serviceReading(_ key: FileStatus) -> Account? {
        guard let service, !isServiceUncertain || key.group == service.primaryGroup else { return nil }
        return service
    }

    /// Whether this user is trusted like ourselves: root, the acting user, the caller, the service's user.
    package func trusts(_ user: UInt32) -> Bool {
        user == 0 || user == self.user || user == caller || user == service?.id
    }

    /// Whether members of the group may read keys: the acting user's or the service user's primary group.
    func mayReadKeys(_ group: UInt32) -> Bool {
        group == self.group || group == service?.primaryGroup
    }

    package func belongs(to group: UInt32) -> Bool {
        group == self.group || groups.contains(group)
    }
}
