import Config
import Failures
import Glibc
import Linux
import Model
import Outputs
import State
import Systemd

/// Files that the sandbox of this process's own unit hides from the process, or writes that it hides from other programs.
/// `check`, from outside, asks the same rules (``SandboxReview``).
///
/// Nothing is hidden if no unit runs this process, or before systemd has answered.
enum OwnSandbox {
    /// Nil if no unit runs this process. The settings were applied when the process started, so that one answer counts. Blocks
    /// the first time.
    private static let answer = OwnUnit.service.map { name in RetriedQuery { ask(name) } }

    private static var review: SandboxReview? { answer?.value?.review }

    private struct Answer: Sendable {
        /// Nil if systemd knows too little of the unit, or cannot be asked at all.
        let review: SandboxReview?
    }

    private static func ask(_ unit: String) -> Answer? {
        do throws(UnitError) {
            return Answer(review: try ServiceUnit.named(unit).map { SandboxReview($0) })
        } catch {
            return error.isSilence ? nil : Answer(review: nil)
        }
    }

    /// Has it reported when systemd gives a late answer: files judged before may be hidden.
    static func whenKnownLate(_ report: @escaping @Sendable () -> Void) { answer?.whenAnsweredLate(report) }

    /// That other programs do not see a file that this process writes, where it really is. Nil behind a link that may not be
    /// followed: the file is then refused for that.
    static func hiding(file path: AbsolutePath, as identity: Identity) -> Failure? {
        hiding(path, FileHome.directory(of: path, as: identity))
    }

    /// That nothing of the state directory outlives the process.
    static func hiding(stateDirectory path: AbsolutePath?, as identity: Identity) -> Failure? {
        path.flatMap { hiding($0, $0.appending("lock").flatMap { FileHome.directory(of: $0, as: identity) }) }
    }

    private static func hiding(_ path: AbsolutePath, _ directory: @autoclosure () -> AbsolutePath?) -> Failure? {
        guard let review, let directory = directory(), let failure = review.hiding(path, in: directory),
            isCovered(directory.description)
        else { return nil }
        return failure
    }

    /// Whether something is mounted over the directory: in some containers the kernel lets systemd mount nothing, and systemd
    /// starts the unit without its sandbox.
    private static func isCovered(_ directory: String) -> Bool {
        guard let mount = MountTable.ofThisProcess()?.mount(of: directory) else { return true }
        return ["/tmp", "/var/tmp"].contains(mount.point) ? mount.isPrivate : mount.point != "/"
    }

    /// That this process does not see the file from which a client receives its secrets.
    static func hiding(source path: AbsolutePath) -> Failure? { review?.problem(withSource: path) }

    /// The failure of a job with a file that this process does not see, or may not execute, if that is the reason; else the
    /// failure itself. A program that was started was seen.
    static func explained(_ failure: Failure, of work: Work, as identity: Identity) -> Failure {
        let hidden: Failure? =
            switch work {
            case .readKey(_, let key): review?.problems(with: key, as: identity).first
            case .readSource(_, let file): hiding(source: file.path)
            case .run where [.actionFailed, .actionTimedOut, .actionInterrupted].contains(failure.code): nil
            case .run(let action, _), .probe(let action): review?.problem(with: action)
            default: nil
            }
        if let hidden { return hidden }
        guard case .publish(let spec, _, _, _) = work else { return explainedByStart(failure, as: identity) }
        // A writer is another process.
        return spec.owner == nil
            ? explainedByStart(failure, givingTo: WriteProbe.group(of: spec)?.id, as: identity) : failure
    }

    /// The failure with the remedy of a restart, if what was refused is allowed by now, by the unit or the account database: a
    /// process keeps the mounts and groups that it was started with. Blocks.
    ///
    /// - Parameter group: the one that this process gives the file; nil if none is known.
    static func explainedByStart(_ failure: Failure, givingTo group: UInt32? = nil, as identity: Identity) -> Failure {
        guard case .path(let path) = failure.place, let name = OwnUnit.service else { return failure }
        let isAllowed: (ServiceUnit) -> Bool
        switch failure.code {
        case .groupNotPermitted:
            guard let group else { return failure }
            isAllowed = { $0.puts(user: identity.user, inGroup: group) }
        case .readOnlyFileSystem, .metricsFileUnwritable, .stateUnusable:
            let isState = failure.code == .stateUnusable
            let directory = isState ? path : FileHome.directory(of: path, as: identity) ?? path.directory
            let real = RealPath.of(directory.description)
            guard let cause = ReadOnlyCause.of(real) else { return failure }
            guard cause == .sandbox else {
                guard let unit = try? ServiceUnit.named(name) else { return failure }
                return explained(failure, by: cause, of: real, to: unit, as: identity)
            }
            // What systemd creates has a remedy of its own.
            isAllowed = { $0.sandbox.view(of: real) == .writable && !$0.sandbox.makes(real) }
        default: return failure
        }
        guard let unit = try? ServiceUnit.named(name), isAllowed(unit) else { return failure }
        // A restart that fails would take down this process.
        let restart = unit.settings.needs.isEmpty ? ShellCommand.restart(name) : nil
        return failure.with(.say("\(name) may do this after a restart", run: restart))
    }

    /// The failure without the advice to let the unit write to a directory, if its settings do already: then something else
    /// makes the directory read-only.
    ///
    /// - Parameter real: the directory's real path.
    static func explained(
        _ failure: Failure, by cause: ReadOnlyCause, of real: String, to unit: ServiceUnit, as identity: Identity
    ) -> Failure {
        guard unit.sandbox.view(of: real) == .writable else { return failure }
        let words = failure.code == .stateUnusable ? StateDirectory.anotherDirectory : OutputRemedy.anotherPath
        func remedy(isOpened: Bool) -> Remedy {
            OutputRemedy.ofReadOnly(cause, real, for: identity.user, isOpened: isOpened, otherwise: words)
        }
        return failure.remedy == remedy(isOpened: false) ? failure.with(remedy(isOpened: true)) : failure
    }

    /// The refusal of a configuration that this process does not see, if that is the reason; else the refusal itself. Blocks.
    static func explained(_ error: ConfigurationError, of path: String) -> ConfigurationError {
        explained(error, of: path, by: { review })
    }

    /// - Parameter review: asked only about a file that cannot be read.
    static func explained(
        _ error: ConfigurationError, of path: String, by review: () -> SandboxReview?
    ) -> ConfigurationError {
        guard let file = ConfigurationLoader.absolutePath(of: path),
            FileStatus.problem(accessing: file.description, R_OK) != nil,
            let failure = review()?.problem(withConfiguration: file)
        else { return error }
        let line = Diagnostic(.error, at: Position(file: path), failure.message, remedy: failure.remedy)
        return ConfigurationError(diagnostics: [line], unread: error.unread)
    }
}
