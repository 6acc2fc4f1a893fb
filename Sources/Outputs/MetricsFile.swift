internal import Failures
internal import Formats
package import Linux
package import Model

/// The `metrics_file` on disk: readable by all users, because it holds no secret, and replaced whole.
///
/// Its path is checked like an output's, so that no link makes it a key, the configuration or an output.
package struct MetricsFile: Sendable {
    private let spec: FileSpec
    private let identity: Identity
    private let naming: TemporaryNames
    private let reservedPaths: ReservedPaths

    /// More than the metrics of 30,000 clients with an output each, in bytes.
    private static let sizeLimit = 64 << 20
    /// node_exporter, which runs as another user, reads it.
    private static let mode: UInt16 = 0o644

    package init(_ path: AbsolutePath, as identity: Identity, naming: TemporaryNames, reservedPaths: ReservedPaths) {
        spec = FileSpec(
            path: path, format: FileFormat(FormatRegistry.standard), mode: Self.mode, group: nil, owner: nil, slots: [:]
        )
        self.identity = identity
        self.naming = naming
        self.reservedPaths = reservedPaths
    }

    /// Writes the file, unless it already has this content and mode.
    package func write(_ bytes: [UInt8]) throws(Failure) {
        let target = try target()
        try check(target)
        if let content = target.content, content.bytes == bytes, content.status.mode == Self.mode { return }
        do throws(FileError) {
            try target.replace(with: bytes, mode: Self.mode, naming: naming)
            reservedPaths.noteOwn(target.path)
        } catch {
            throw unwritable(error)
        }
    }

    /// Removes the file if it holds this daemon's metrics. Of two files with metrics of one client, node_exporter uses the one
    /// whose name comes first. It mentions the other only in its log.
    package func remove() throws(Failure) {
        let target = try target()
        guard let content = target.content, Self.isOurs(content.bytes) else { return }
        do throws(FileError) { try target.remove() } catch { throw unwritable(error) }
    }

    /// Why the user that this process runs as could not write the file; nil when no reason is known. Changes nothing.
    package func problem() -> Failure? {
        do throws(Failure) { try check(try target()) } catch { return error }
        if let error = WriteProbe.error(at: spec.path, as: identity) { return unwritable(error) }
        return WriteProbe.failure(of: spec, as: identity).map(unwritable)
    }

    private func target() throws(Failure) -> AtomicFile {
        do throws(FileError) {
            return try AtomicFile(spec.path.description, as: identity, limit: Self.sizeLimit)
        } catch {
            throw unwritable(error)
        }
    }

    private func check(_ target: borrowing AtomicFile) throws(Failure) {
        do throws(Failure) { _ = try reservedPaths.check(target, for: spec) } catch { throw unwritable(error) }
        guard let content = target.content, !content.bytes.isEmpty, !Self.isOurs(content.bytes),
            !reservedPaths.isOwn(target.path)
        else { return }
        throw unwritable(
            Failure(
                .outputForeign, at: .path(spec.path), detail: Publisher.words(for: content.bytes),
                remedy: .say("write another path, or remove the file if it is not needed")))
    }

    /// Whether there are metrics of this program, also after damage.
    private static func isOurs(_ bytes: [UInt8]) -> Bool {
        let mark = "# HELP clientsecretd_"
        return bytes.starts(with: mark.utf8) || String(decoding: bytes, as: UTF8.self).contains(mark)
    }

    private func unwritable(_ error: FileError) -> Failure {
        unwritable(Failure(error, at: spec.path, of: isOfOwnDirectory(error) ? identity : nil))
    }

    /// Whether the remedy is that of an output there: not where the directory belongs to others, or they may write to it.
    private func isOfOwnDirectory(_ error: FileError) -> Bool {
        switch error.code {
        case .directoryMissing, .diskFull, .quotaExceeded: true
        case .readOnlyFileSystem:
            FileHome.directory(of: spec.path, as: identity).flatMap { FileStatus.following($0.description) }?.owner
                == identity.user
        default: false
        }
    }

    private func unwritable(_ failure: Failure) -> Failure {
        failure.ofMetricsFile(spec.path)
    }
}

extension Failure {
    /// The same as a failure to write `metrics_file`, with the remedy.
    package func ofMetricsFile(_ path: AbsolutePath) -> Failure { ofMetricsFile(path, remedy: linkRemedy(path)) }

    /// A link to a file of the daemon. Node_exporter follows links, and the daemon may seldom write to its directory (Debian's
    /// is below one of the user prometheus).
    private func linkRemedy(_ path: AbsolutePath) -> Remedy? {
        guard [.unguardedDirectory, .permissionDenied, .readOnlyFileSystem].contains(code),
            !hasRemedyOfItsOwn, path.directory.description != OutputRemedy.ownDirectory
        else { return nil }
        let link = "and put a link to it where \(Printable.name(path.name)) is expected"
        // Another daemon would fight over the package's file.
        guard CommandContext.current.isOfPackage else {
            return .say("write a path in a directory that belongs to the daemon's user, \(link)")
        }
        return .say("write \"metrics_file: \(OutputRemedy.ownDirectory)/clientsecretd.prom\", \(link)")
    }
}
