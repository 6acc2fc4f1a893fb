import Glibc
import SystemPackage

/// Reads the eight-byte count of a timer or event counter; `nil` when it is zero now.
func readCounter(_ descriptor: Int32, _ operation: String) throws(SystemError) -> UInt64? {
    var count: UInt64 = 0
    while true {
        if unsafe Glibc.read(descriptor, &count, MemoryLayout<UInt64>.size) == MemoryLayout<UInt64>.size {
            return count
        }
        let cause = Errno(rawValue: errno)
        if cause == .wouldBlock { return nil }
        guard cause == .interrupted else { throw SystemError(operation, errno: cause) }
    }
}
