internal import Failures
package import Linux
package import Rotation

extension Failure {
    /// What it means that the output at `path` could not be read or written. Kinds are named like the codes that mean
    /// the same; the detail names the component, where that is not the file itself.
    ///
    /// - Parameter identity: who writes an output; nil for another file.
    package init(_ error: FileError, at path: AbsolutePath, of identity: Identity? = nil) {
        let code: Code =
            switch error.kind {
            case .missing: .directoryMissing
            case .notGuarded: .unguardedDirectory
            default: Code(rawValue: error.kind.rawValue) ?? .systemError
            }
        let component = error.path == path.description ? nil : Printable.name(error.path)
        let what = [component, error.detail].compactMap { $0 }.joined(separator: ": ")
        self.init(
            code, at: .path(path), cause: error.cause, detail: what.isEmpty ? nil : what,
            remedy: identity.map { OutputRemedy.remedy(error, for: path, as: $0) } ?? error.remedy)
    }
}
