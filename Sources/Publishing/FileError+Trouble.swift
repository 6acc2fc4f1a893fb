package import Linux
package import Rotation

extension Trouble {
    /// What it means that the output at `path` could not be read or written. Kinds are named like the codes that mean
    /// the same; the detail names the component, where that is not the file itself, and what mends it.
    package init(_ error: FileError, at path: AbsolutePath) {
        let code: Code =
            switch error.kind {
            case .missing: .directoryMissing
            case .notGuarded: .unguardedDirectory
            default: Code(rawValue: error.kind.rawValue) ?? .systemError
            }
        let component = error.path == path.description ? nil : error.path
        let what = [component, error.detail].compactMap { $0 }.joined(separator: ": ")
        let detail = [what.isEmpty ? nil : what, error.remedy].compactMap { $0 }.joined(separator: "; ")
        self.init(code, at: .path(path), cause: error.cause, detail: detail.isEmpty ? nil : detail)
    }
}
