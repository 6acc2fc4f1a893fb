import AppleClientSecret
import Config
import Daemon
import Failures
import Linux
import Model

/// The offers of `init` at a terminal, as found on this machine. Each is shown, and an empty answer accepts it.
struct InitProposals {
    var key: AbsolutePath?
    /// The service that reads a file; nil if none is known to, or several may.
    var unit: (AbsolutePath?) -> String? = { _ in nil }

    init() {}

    /// - Parameters:
    ///   - file: the one of `--from`.
    ///   - id: the key's, if it is known.
    ///   - isOthers: whether a key file is another team's.
    ///   - environment: of this process.
    init(
        for file: AbsolutePath?, key id: KeyID?, except isOthers: (AbsolutePath) -> Bool,
        _ environment: [String: String]
    ) {
        key = Self.key(id, in: Self.keyDirectories(environment), except: isOthers, ServiceUser.identity)
        unit = { output in (file ?? output).flatMap(Self.service(reading:)) }
    }

    // MARK: Keys

    /// The directories in which people put the file that Apple gave them.
    private static func keyDirectories(_ environment: [String: String]) -> [AbsolutePath] {
        let home = environment["HOME"] ?? ""
        return [
            AbsolutePath("/etc/clientsecretd"), ConfigurationLoader.absolutePath(of: "file")?.directory,
            AbsolutePath(home), AbsolutePath(home + "/Downloads"),
        ].compactMap(\.self)
    }

    /// In a directory.
    private static let mostNames = 10_000

    /// The key file of this id by Apple's name for it; without an id the only one that there is.
    static func key(
        _ id: KeyID?, in directories: [AbsolutePath], except isOthers: (AbsolutePath) -> Bool = { _ in false },
        _ identity: Identity
    ) -> AbsolutePath? {
        let files = directories.flatMap { directory in
            let names =
                id.map { ["AuthKey_\($0).p8"] }
                ?? ForeignFile.names(in: directory.description, limit: mostNames).filter { KeyID(fileName: $0) != nil }
            return names.compactMap { AbsolutePath("\(directory)/\($0)") }
                .filter { !isOthers($0) && isOffered($0, identity) }
        }
        // Copies of one key have one name.
        return Set(files.map(\.name)).count == 1 ? files.first : nil
    }

    /// Does not offer files that another user has placed there, such as a link to another user's key: users accept an offer
    /// without a second look.
    static func isOffered(_ key: AbsolutePath, _ identity: Identity) -> Bool {
        do throws(FileError) {
            return try TrustedFile.check(key.description, for: .configuration, as: identity).kind == .regular
        } catch {
            return false
        }
    }

    // MARK: Units

    private static func service(reading file: AbsolutePath) -> String? {
        guard let services = ReaderUnit.names(reading: file) else {
            CommandOutput.complain(
                "systemd does not answer, so init cannot look for the unit that reads \(Printable.name(file.description))"
            )
            return nil
        }
        // Of several none is more likely than the others.
        return services.count == 1 ? services.first : nil
    }
}
