import Glibc
import SystemPackage

/// Notices that something was mounted or unmounted where this process looks. Nothing else tells that a directory was
/// covered by another one: who watches it goes on watching what is hidden.
package struct MountNotices: ~Copyable {
    private let descriptor: Descriptor

    /// The descriptor to wait for: it is ``Readiness/failed`` after each change, until that was told (proc(5)).
    package var raw: Int32 { descriptor.raw }

    /// Throws where /proc is not mounted.
    package init() throws(SystemError) {
        let raw = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { throw SystemError("ask for notices of mounts", errno: Errno(rawValue: errno)) }
        descriptor = Descriptor(adopting: raw)
    }
}
