internal import Failures
internal import Glibc
internal import Model
internal import SystemPackage

/// A record that cannot be used, because it is damaged or of a newer version.
enum DamagedRecord {
    /// Renames it. The latest of each kind is kept so that operators can inspect it.
    ///
    /// - Parameter failure: of its reading; only one about the record's content counts.
    static func setAside(_ path: String, for failure: Failure) {
        let kind: String
        switch failure.code {
        case .stateDamaged: kind = "damaged"
        case .stateNewer: kind = "newer"
        default: return
        }
        let file = FilePath(path)
        _ = unsafe file.withPlatformString { from in
            unsafe FilePath(file.string + "." + kind).withPlatformString { to in unsafe rename(from, to) }
        }
    }
}
