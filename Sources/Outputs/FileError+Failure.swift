internal import Failures
package import Linux
package import Rotation

extension Failure {
    /// The failure when the output at `path` could not be read or written. Kinds have the same names as the codes that
    /// mean the same; the detail names the path component at fault, unless that is the file itself.
    ///
    /// - Parameter identity: the user who writes an output; nil for another file.
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
