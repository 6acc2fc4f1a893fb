internal import Glibc

/// How this machine calls itself (gethostname(2)); empty if it has no name.
package enum HostName {
    package static var current: String {
        var name = [CChar](repeating: 0, count: 256)
        _ = unsafe gethostname(&name, name.count - 1)
        return String(zeroTerminated: name)
    }
}
