import CLinux
import SystemPackage

/// Where a walk ended: a name in a directory that is held open, and what had that name.
struct GuardedPlace: ~Copyable {
    let directory: GuardedDirectory
    let name: FilePath.Component
    /// Nil: nothing has this name.
    let found: FileStatus?
    /// A handle on what was found, which cannot be read from.
    let handle: Descriptor?

    /// Whether the process may execute what was found.
    func isExecutable() throws(FileError) -> Bool {
        switch handle {
        case .some(let handle): try checked(clinux_path_may_execute(handle.raw), path) == 1
        case .none: false
        }
    }

    /// The real path: links are followed.
    var path: String { directory.path.appending(name).string }
}
