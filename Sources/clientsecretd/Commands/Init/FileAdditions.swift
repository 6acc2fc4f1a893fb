import Failures
import Linux
import SystemPackage
import Systemd

/// Writes files that have to hold certain lines, each atomically, or shows the lines beforehand.
struct FileAdditions {
    private var changes: [Change] = []

    /// In bytes: far more than any of these files has.
    private static let sizeLimit = 1 << 20

    private struct Change {
        let file: RequiredLines
        let isNew: Bool

        var path: String { file.path }
    }

    /// Reads the existing files.
    init(_ files: [RequiredLines]) throws(CommandFailure) {
        for file in files {
            let old = try Self.old(file.path)
            guard file.text(after: old) != nil else { continue }
            changes.append(Change(file: file, isNew: old == nil))
        }
    }

    /// polkit's directory for rules belongs to polkit's own user, which decides about them anyway.
    private static let identity = Identity.current().trusting([FilePath(PolkitRule.file).removingLastComponent()])

    private static func old(_ path: String) throws(CommandFailure) -> String? {
        guard FileStatus.following(path) != nil else { return nil }
        do throws(FileError) {
            return try text(of: AtomicFile(path, as: identity, limit: sizeLimit).content, at: path)
        } catch {
            throw failure(error)
        }
    }

    private static func text(of content: FileContent?, at path: String) throws(FileError) -> String? {
        guard let content else { return nil }
        guard let text = String(validating: content.bytes, as: UTF8.self) else {
            throw FileError(.systemError, at: path, detail: "it is not UTF-8")
        }
        return text
    }

    var written: [String] { changes.map { Printable.name($0.path) } }

    var preview: [String] {
        changes.flatMap { change in
            let heading =
                change.isNew ? "\(change.path) would hold:" : "\(change.path) would get these lines:"
            guard !change.file.isSecret else {
                return [heading, "    the token, which is not shown and only its owner may read", ""]
            }
            let lines = change.file.lines.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            return [heading] + lines.map { $0.isEmpty ? "" : "    " + $0 } + [""]
        }
    }

    func write() throws(CommandFailure) {
        do throws(FileError) {
            // If one of them cannot be written, nothing is: the next try would find the lines of the first.
            for change in changes {
                try makeDirectory(FilePath(change.path).removingLastComponent())
                _ = try AtomicFile(change.path, as: Self.identity, limit: Self.sizeLimit)
            }
            for change in changes {
                let file = try AtomicFile(change.path, as: Self.identity, limit: Self.sizeLimit)
                guard (file.content == nil) == change.isNew else {
                    throw FileError(.changedMeanwhile, at: change.path)
                }
                // By what it holds now: while the lines were shown, another program may have written.
                let old = try Self.text(of: file.content, at: change.path)
                guard let text = change.file.text(after: old) else { continue }
                try file.replace(
                    with: Array(text.utf8), mode: change.isNew ? (change.file.isSecret ? 0o600 : 0o644) : nil,
                    naming: TemporaryNames())
            }
        } catch {
            throw Self.failure(error)
        }
    }

    /// Below /etc, and elsewhere only that of drop-in files: another one that is missing is more likely mistyped.
    private func makeDirectory(_ directory: FilePath) throws(FileError) {
        guard directory.starts(with: "/etc") || directory.extension == "d",
            FileStatus.following(directory.string) == nil
        else { return }
        try makeDirectory(directory.removingLastComponent())
        try GuardedPath.makeDirectory(directory.string, mode: 0o755, as: Self.identity)
    }

    private static func failure(_ error: FileError) -> CommandFailure {
        let reason = error.errno.map { ": \($0)" } ?? ""
        switch error.code {
        case .permissionDenied:
            return CommandFailure(.notPermitted, "cannot create \(error.path)\(reason)")
        case .directoryMissing, .missing:
            return CommandFailure(
                .failed, "cannot create \(error.path): its directory does not exist; create it with mkdir -p")
        default:
            return CommandFailure(.failed, error.description)
        }
    }
}
