import Daemon
import Failures
import Linux
import Model

/// The place in which the service reads a key that `init` is given: in its own directory, and by its own group.
struct KeyPlacement {
    /// The key's file in the configuration.
    let file: AbsolutePath
    /// The command that puts it there, or lets the service read it; nil if none is needed.
    private(set) var command: ShellCommand?

    private static let directory = "/etc/clientsecretd"

    /// In bytes: far more than any key file has.
    private static let keyFileLimit = 1 << 20

    /// - Parameters:
    ///   - service: the user that the service runs as.
    ///   - isHidden: whether the service's sandbox hides a file from it.
    init(
        of key: AbsolutePath, for service: Account, isHidden: (AbsolutePath) -> Bool = SandboxReview.hides
    ) throws(CommandFailure) {
        guard try !Self.mayRead(key, service) || isHidden(key) else {
            file = key
            return
        }
        if key.description.hasPrefix(Self.directory + "/") {
            file = key
            // If another group may read it, the check at the end has the advice.
            command = PathComponent(file: key.description, for: ServiceUser.identity).flatMap {
                $0.isOpen(toGroupOtherThan: [service.primaryGroup])
                    ? nil : ShellCommand.shareKey($0, withServiceGroup: service.name)
            }
            return
        }
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

    /// Whether the service's user would take the file as a key, by the rules of `run`.
    private static func mayRead(_ key: AbsolutePath, _ service: Account) throws(CommandFailure) -> Bool {
        try CommandFailure.explaining { () throws(SystemError) in
            try ThreadUser.perform(as: service) {
                do throws(FileError) {
                    _ = try TrustedFile.open(
                        key.description, for: .key, as: Identity(user: service.id, group: service.primaryGroup),
                        limit: keyFileLimit)
                    return true
                } catch {
                    return false
                }
            }
        }
    }
}
