internal import Glibc
package import Linux
package import Rotation
internal import SystemPackage

/// What no output may be, by whatever path it is reached: a key, a passphrase, a program, the configuration, the state
/// directory, or the file of another output.
///
/// The configuration's text alone cannot tell: links lead elsewhere, and may be changed after it was read. So it is
/// asked of the file itself, right before it is replaced. A `.p8` can be downloaded once.
package final class ReservedPaths: Sendable {
    private struct Paths {
        var trusted: [FilePath] = []
        var inputs: Set<AbsolutePath> = []
        var outputs: Set<AbsolutePath> = []
        var state: String?
        /// Which file each input is; nil: it was looked for in vain, or for too long.
        var files: [AbsolutePath: FileStatus?] = [:]
        /// How often each input was looked at.
        var looks: [AbsolutePath: Int] = [:]
        /// Inputs that are being looked at.
        var asked: Set<AbsolutePath> = []
        /// Which output each real path was first claimed by.
        var claims: [String: AbsolutePath] = [:]
    }

    private let paths = QuietMutex(Paths())
    /// By the directories of what is looked for.
    private let pool = WorkerPool<AbsolutePath>()

    /// In milliseconds: much longer than it takes to look where nothing is wrong, and a delay that an output can stand.
    private static let patience: Int64 = 1_000

    package init() {}

    /// Takes what a configuration reads and writes.
    ///
    /// - Parameters:
    ///   - inputs: keys, passphrases, programs and the configuration's own files.
    ///   - state: the state directory's real path; nil when there is none.
    ///   - trusted: where outputs and keys are not guarded against others.
    package func draw(
        inputs: Set<AbsolutePath>, outputs: Set<AbsolutePath>, state: String?, trusted: [AbsolutePath] = []
    ) {
        paths.withLock { paths in
            paths = Paths(
                trusted: trusted.map { FilePath($0.description) }, inputs: inputs, outputs: outputs, state: state,
                files: paths.files.filter { inputs.contains($0.key) }, claims: [:])
        }
    }

    /// This user, as whom keys are read and outputs written: who trusts what the configuration says.
    package func trusting(_ identity: Identity) -> Identity {
        let trusted = paths.withLock { $0.trusted }
        return trusted.isEmpty ? identity : identity.trusting(trusted)
    }

    /// Looks which file an input is now. Blocks for as long as its file system takes.
    package func note(_ input: AbsolutePath) {
        let file = FileStatus.following(input.description)
        paths.withLock { paths in
            paths.asked.remove(input)
            guard paths.inputs.contains(input) else { return }
            paths.files[input] = .some(file)
            paths.looks[input, default: 0] += 1
        }
    }

    /// Whether `target` may be replaced as an output.
    func check(_ target: borrowing AtomicFile, for file: FileSpec) throws(Failure) {
        let path = target.path
        let output = file.path
        findInputs()
        if let found = target.content?.status { lookAgain(atInputsLike: found) }
        let failure = paths.withLock { paths -> Failure? in
            if let state = paths.state, path.hasPrefix(state + "/") {
                return Failure(.outputIsInput, at: .path(output))
            }
            if let found = target.content?.status {
                let isInput = paths.files.values.contains { $0?.isSameFile(as: found) == true }
                if isInput { return Failure(.outputIsInput, at: .path(output)) }
            }
            if paths.inputs.contains(where: { $0.description == path }) {
                return Failure(.outputIsInput, at: .path(output))
            }
            if let other = paths.claims[path], other != output, paths.outputs.contains(other) {
                return Failure(.sameFile, at: .path(output), detail: other.description)
            }
            paths.claims[path] = output
            return nil
        }
        if let failure { throw failure }
        if let content = target.content, Self.isForeign(content.bytes, file.format) {
            throw Failure(.outputIsInput, at: .path(output))
        }
    }

    /// Sees to it that is known which files the inputs are.
    ///
    /// One of them may lie on a file system that hangs, which must not hold up what is written elsewhere: such a one is not
    /// waited for, only its path counts then, and no output that could be opened just now lies there.
    private func findInputs() {
        let missing = paths.withLock { paths in paths.inputs.filter { paths.files[$0] == nil } }
        look(at: missing)
        paths.withLock { paths in
            for input in missing.intersection(paths.inputs) where paths.files[input] == nil {
                paths.files[input] = .some(nil)
            }
        }
    }

    /// An input that was replaced since it was looked at has given its inode away, perhaps to an output. Until it is
    /// known to be another file, it counts as the one that it was.
    private func lookAgain(atInputsLike found: FileStatus) {
        look(at: paths.withLock { Set($0.files.filter { $0.value?.isSameFile(as: found) == true }.keys) })
    }

    /// Looks which files these inputs are, and waits for that for a while.
    private func look(at inputs: Set<AbsolutePath>) {
        guard !inputs.isEmpty else { return }
        let looks = paths.withLock { $0.looks }
        for input in inputs where paths.withLock({ $0.asked.insert(input).inserted }) {
            do throws(SystemError) {
                try pool.run(in: input.directory) { [self] in note(input) }
            } catch {
                paths.withLock { _ = $0.asked.remove(input) }
            }
        }
        let deadline = Clocks.bootMilliseconds() + Self.patience
        while paths.withLock({ paths in
            inputs.contains { paths.inputs.contains($0) && paths.looks[$0] == looks[$0] }
        }), Clocks.bootMilliseconds() < deadline { usleep(500) }
    }

    /// PEM and scripts: never a secret of ours, however damaged; an environment file may be a shell's.
    private static func isForeign(_ bytes: [UInt8], _ format: FileFormat) -> Bool {
        bytes.starts(with: Array("-----BEGIN ".utf8)) || (!format.isShared && bytes.starts(with: Array("#!".utf8)))
    }
}
