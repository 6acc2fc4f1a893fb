import AppleClientSecret
import Daemon
import Linux

/// A process of this machine, as far as this user may look into it. Its content decides nothing, because other users choose it.
struct RunningProcess {
    let id: Int32
    /// Limits how much is read of it and of other processes together.
    private let look: ProcessLook

    /// In bytes.
    private static let environmentLimit = 4 << 20
    private static let credentialLimit = 1 << 20
    /// Secrets and environment files are short; databases and logs are not looked at.
    private static let openFileLimit = 64 << 10
    private static let descriptorLimit = 1_024

    init(_ id: Int32, _ look: ProcessLook = ProcessLook()) {
        self.id = id
        self.look = look
    }

    /// All of them, by their numbers.
    static func all(_ look: ProcessLook) -> [RunningProcess] {
        look.processes().map { RunningProcess($0, look) }
    }

    private var folder: String { "/proc/\(id)" }

    /// The first 15 bytes of its program's name.
    var command: String? {
        ForeignFile.command(of: id).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The system's service to which it belongs; nil for a user's services, sessions and containers.
    var unit: String? { Cgroup.service(ofProcessIn: folder) }

    /// When it was started; nil when it has ended.
    var startedAt: WallTime? {
        guard let statistics = ProcessStatistics(ofProcessIn: folder) else { return nil }
        // Rounded last: else the same process would now and then seem to be a second or two older than it is.
        let age = Clocks.bootMilliseconds() - statistics.startedAt * 1_000 / ProcessStatistics.ticksPerSecond
        return WallTime(secondsSinceEpoch: (Clocks.wallMilliseconds() - age) / 1_000)
    }

    var owner: UInt32? { FileStatus.following(folder)?.owner }

    /// Those that it is in; nil when it has ended.
    var groups: Set<UInt32>? { ProcessStatus(ofProcess: id)?.groups }

    /// Whether this user may not look into it. Its environment, credentials and open files are not known then: the kernel asks for
    /// the same right for each of them (proc_pid_environ(5)).
    var isForbidden: Bool { look.isForbidden("\(folder)/environ") }

    // MARK: Secrets

    /// The variables that it was started with. Later changes of its variables are only in its memory.
    private var environment: [(name: String, value: [UInt8])] {
        (look.read("\(folder)/environ", limit: Self.environmentLimit) ?? []).split(separator: 0).compactMap {
            entry in
            entry.firstIndex(of: UInt8(ascii: "=")).map { sign in
                (String(decoding: entry[..<sign], as: UTF8.self), Array(entry[(sign + 1)...]))
            }
        }
    }

    /// The client secrets in the variables that it was started with.
    var secretsInEnvironment: [HeldSecret] { secretsInEnvironment { _ in true } }

    /// Those of them that `isWanted`.
    func secretsInEnvironment(_ isWanted: (ForeignSecret) -> Bool) -> [HeldSecret] {
        environment.compactMap { name, value in
            guard look.goesOn, let secret = ForeignSecret.all(in: value).first, isWanted(secret) else { return nil }
            return HeldSecret(secret, at: .variable(name))
        }
    }

    /// Those of the variables that it was started with and that hold no client secret, such as an empty one. Nil if nothing is
    /// known of its environment.
    func variablesWithoutSecret(among names: Set<String>) -> Set<String>? {
        let environment = environment
        guard !environment.isEmpty else { return nil }
        return Set(
            environment.filter { names.contains($0.name) && ForeignSecret.all(in: $0.value).isEmpty }.map { $0.name })
    }

    /// The client secrets in its variables, its credentials and the files that it has open.
    var secrets: [HeldSecret] { secretsInEnvironment + secretsInCredentials + secretsInOpenFiles }

    private var secretsInCredentials: [HeldSecret] {
        guard let entry = environment.first(where: { $0.name == "CREDENTIALS_DIRECTORY" }) else { return [] }
        let directory = "\(folder)/root" + String(decoding: entry.value, as: UTF8.self)
        return ForeignFile.names(in: directory, limit: Self.descriptorLimit).compactMap { name in
            look.read("\(directory)/\(name)", limit: Self.credentialLimit, isSkippedIfLonger: true).flatMap {
                ForeignSecret.all(in: $0).first.map { HeldSecret($0, at: .credential(name)) }
            }
        }
    }

    private var secretsInOpenFiles: [HeldSecret] {
        ForeignFile.names(in: "\(folder)/fd", limit: Self.descriptorLimit).compactMap { number in
            let descriptor = "\(folder)/fd/\(number)"
            guard look.goesOn, let path = ForeignFile.link(descriptor), path.hasPrefix("/"),
                let bytes = look.read(descriptor, limit: Self.openFileLimit, isSkippedIfLonger: true)
            else { return nil }
            return ForeignSecret.all(in: bytes).first.map { HeldSecret($0, at: .openFile(path)) }
        }
    }
}
