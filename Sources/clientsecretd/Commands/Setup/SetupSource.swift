import AppleClientSecret
import Config
import Failures
import Glibc
import Linux
import Model

/// The file of `init --from`.
struct SetupSource {
    private let path: AbsolutePath
    private let bytes: [UInt8]
    /// The user as whom it is written from now on; nil: it is the daemon's own.
    let user: String?

    init(_ path: AbsolutePath, isOfService: Bool) throws(CommandFailure) {
        self.path = path
        bytes = try NamedFile.read(path.description, limit: AtomicFile.sizeLimit)
        user = try Self.user(owning: path, isOfService: isOfService)
    }

    /// The user that owns a file; nil where that is the daemon's own, or there is no such file.
    static func user(owning path: AbsolutePath, isOfService: Bool) throws(CommandFailure) -> String? {
        let service = isOfService ? (try? Accounts.user(named: ServiceUser.name)) : nil
        let daemon = isOfService ? service?.id : geteuid()
        guard let owner = FileStatus.following(path.description)?.owner, owner != daemon else { return nil }
        guard let name = (try? Accounts.user(id: owner))?.name else {
            throw CommandFailure(
                .failed,
                "\(Printable.name(path.description)) belongs to the user \(owner), which has no name on this machine; give it to "
                    + "the user of the application")
        }
        return name
    }

    /// The client whose secret it holds.
    ///
    /// - Parameters:
    ///   - variable: the one that a flag names.
    ///   - dialog: asks which one, where there are several.
    func client(variable: String?, client: ClientID?, _ dialog: SetupDialog?) throws -> FoundClient {
        let name = path.description
        let found = FoundClient.all(in: bytes, of: name, variable: variable, client: client)
        guard let first = found.first else {
            throw FoundClient.missing(in: bytes, of: name, variable: variable, client: client)
        }
        if found.count == 1 { return first }
        guard let dialog else { throw FoundClient.ambiguous(found, in: name) }
        return try dialog.choose(from: found)
    }
}
