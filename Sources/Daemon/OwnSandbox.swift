import Failures
import Linux
import Model

/// What the sandbox of this process's own unit hides from the process, or from other programs what it writes. `check`, from
/// outside, asks the same rules (``SandboxReview``).
///
/// Nothing is hidden where no unit runs this process, or systemd cannot be asked.
enum OwnSandbox {
    /// Asked once: the settings were applied when the process started. Blocks the first time.
    private static let review = OwnUnit.service.flatMap { ServiceUnit.named($0) }.map { SandboxReview($0) }

    /// That other programs do not see a file that this process writes. Nil behind a link: another user may have made it, and the
    /// file is then refused for that.
    static func hiding(file path: AbsolutePath) -> Failure? {
        let directory = path.directory.description
        return RealPath.of(directory) == directory ? hiding(path, in: path.directory) : nil
    }

    /// That nothing of the state directory outlives the process.
    static func hiding(stateDirectory path: AbsolutePath?) -> Failure? {
        path.flatMap { hiding($0, in: $0) }
    }

    private static func hiding(_ path: AbsolutePath, in directory: AbsolutePath) -> Failure? {
        guard let failure = review?.hiding(path, in: directory), isCovered(directory.description) else { return nil }
        return failure
    }

    /// Whether something is mounted over the directory: in some containers the kernel lets systemd mount nothing, and systemd
    /// starts the unit without its sandbox.
    private static func isCovered(_ directory: String) -> Bool {
        guard let mount = MountTable.ofThisProcess()?.mount(of: directory) else { return true }
        return ["/tmp", "/var/tmp"].contains(mount.point) ? mount.isPrivate : mount.point != "/"
    }

    /// That this process does not see a key or its passphrase.
    static func hiding(_ key: KeyConfiguration, as identity: Identity) -> Failure? {
        review?.problems(with: key, as: identity).first
    }

    /// That this process does not see an action's program, or may not execute it.
    static func hiding(programOf action: Action) -> Failure? {
        review?.problem(with: action)
    }
}
