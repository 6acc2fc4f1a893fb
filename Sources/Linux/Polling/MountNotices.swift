import Glibc
import SystemPackage

/// Reports mounts and unmounts in this process's mount namespace. Nothing else reports that a directory was mounted
/// over: an inotify watch stays on the hidden directory.
package struct MountNotices: ~Copyable {
    private let descriptor: Descriptor

    /// The descriptor to wait for: ``Readiness/failed`` after each change, until that was reported (proc(5)).
    package var raw: Int32 { descriptor.raw }

    /// Throws if /proc is not mounted.
    package init() throws(SystemError) {
        let raw = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { throw SystemError("ask for notices of mounts", errno: Errno(rawValue: errno)) }
        descriptor = Descriptor(adopting: raw)
    }
}
