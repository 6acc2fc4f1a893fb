internal import Linux
package import Rotation

/// What no output may be, by whatever path it is reached: a key, a passphrase, a program, the configuration, the state
/// directory, or the file of another output.
///
/// The configuration's text alone cannot tell: links lead elsewhere, and may be changed after it was read. So it is
/// asked of the file itself, right before it is replaced. A `.p8` can be downloaded once.
package final class Boundaries: Sendable {
    private struct Drawn {
        var inputs: Set<AbsolutePath> = []
        var outputs: Set<AbsolutePath> = []
        var state: String?
        /// Which file each input is; nil: it was looked for in vain.
        var files: [AbsolutePath: FileStatus?] = [:]
        /// Which output each real path was first claimed by.
        var claims: [String: AbsolutePath] = [:]
    }

    private let drawn = QuietMutex(Drawn())

    package init() {}

    /// Takes what a configuration reads and writes.
    ///
    /// - Parameters:
    ///   - inputs: keys, passphrases, programs and the configuration's own files.
    ///   - state: the state directory's real path; nil when there is none.
    package func draw(inputs: Set<AbsolutePath>, outputs: Set<AbsolutePath>, state: String?) {
        drawn.withLock { drawn in
            drawn = Drawn(
                inputs: inputs, outputs: outputs, state: state,
                files: drawn.files.filter { inputs.contains($0.key) }, claims: [:])
        }
    }

    /// Looks which file an input is now. Blocks for as long as its file system takes.
    package func note(_ input: AbsolutePath) {
        let file = FileStatus.following(input.description)
        drawn.withLock { if $0.inputs.contains(input) { $0.files[input] = .some(file) } }
    }

    /// Whether `target` may be replaced as an output.
    func check(_ target: borrowing AtomicFile, for file: FileSpec) throws(Trouble) {
        let path = target.path
        let output = file.path
        for input in drawn.withLock({ drawn in drawn.inputs.filter { drawn.files[$0] == nil } }) { note(input) }
        let trouble = drawn.withLock { drawn -> Trouble? in
            if let state = drawn.state, path.hasPrefix(state + "/") {
                return Trouble(.outputIsInput, at: .path(output))
            }
            if let found = target.content?.status {
                let isInput = drawn.files.values.contains { $0?.isSameFile(as: found) == true }
                if isInput { return Trouble(.outputIsInput, at: .path(output)) }
            }
            if drawn.inputs.contains(where: { $0.description == path }) {
                return Trouble(.outputIsInput, at: .path(output))
            }
            if let other = drawn.claims[path], other != output, drawn.outputs.contains(other) {
                return Trouble(.sameFile, at: .path(output), detail: other.description)
            }
            drawn.claims[path] = output
            return nil
        }
        if let trouble { throw trouble }
        if let content = target.content, Self.isForeign(content.bytes, file.kind) {
            throw Trouble(.outputIsInput, at: .path(output))
        }
    }

    /// PEM and scripts: never a secret of ours, however damaged; an environment file may be a shell's.
    private static func isForeign(_ bytes: [UInt8], _ kind: FileSpec.Kind) -> Bool {
        bytes.starts(with: Array("-----BEGIN ".utf8)) || (kind != .env && bytes.starts(with: Array("#!".utf8)))
    }
}
