import Failures
import Linux
import Model

/// Where the service reads a key that `init` is given: in its own directory, and by its own group.
struct KeyPlacement {
    /// The key's file in the configuration.
    let file: AbsolutePath
    /// What puts it there, or lets the service read it; nil where nothing is needed.
    private(set) var command: ShellCommand?

    private static let directory = "/etc/clientsecretd"

    /// In bytes: far more than any key file has.
    private static let keyFileLimit = 1 << 20

    /// - Parameter service: the user that the service runs as.
    init(of key: AbsolutePath, for service: Account) throws(CommandFailure) {
        let status = FileStatus.following(key.description)
        let isShared = status.map { $0.group == service.primaryGroup && $0.mode & 0o040 != 0 } == true
        let isInPlace = key.description.hasPrefix(Self.directory + "/")
        guard !isShared, !(isInPlace && status?.owner == service.id) else {
            file = key
            return
        }
        if isInPlace {
            file = key
            command = PathComponent(file: key.description, for: ServiceUser.identity).flatMap {
                .shareKey($0, withServiceGroup: service.name)
            }
            return
        }
        // Below /home and /root the service sees nothing, and elsewhere its owner could exchange the key.
        guard let copy = AbsolutePath("\(Self.directory)/\(key.name)") else {
            throw CommandFailure(.usage, "the name of \(Printable.name(key.description)) is too long")
        }
        file = copy
        guard
            LinkChain.places(of: key.description).isEmpty
                || PathComponent(file: key.description, for: ServiceUser.identity) != nil
        else {
            throw CommandFailure(
                .failed,
                "\(Printable.name(key.description)) contains a link that another user can change; name the key file itself "
                    + "with --key")
        }
        guard FileStatus.following(copy.description) != nil else {
            command = .copyKey(key.description, to: copy.description, forServiceGroup: service.name)
            return
        }
        guard
            try NamedFile.read(copy.description, limit: Self.keyFileLimit)
                == NamedFile.read(key.description, limit: Self.keyFileLimit)
        else {
            throw CommandFailure(
                .failed,
                "\(copy) exists and differs from \(Printable.name(key.description)); name one of them with --key "
                    + "from \(Self.directory)")
        }
    }
}
