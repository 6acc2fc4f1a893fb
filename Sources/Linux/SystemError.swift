internal import Failures
package import SystemPackage

/// A system call that failed: the call, its object, and the kernel's error.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The attempted operation, worded to follow "cannot": `"watch /etc/clientsecretd"`.
    package let operation: String
    package let errno: Errno

    package init(_ operation: String, errno: Errno) {
        self.operation = operation
        self.errno = errno
    }

    /// The kernel's error, in plain words.
    package var words: String { ErrorNumber.words(for: number) }

    /// The kernel's number for it.
    package var number: Int32 { errno.rawValue }

    package var description: String {
        "cannot \(operation): \(errno)"
    }

    /// Returns the result of a `CLinux` function, or throws when it is negative: then it is -errno.
    @discardableResult
    package static func check(
        _ result: Int32, _ operation: @autoclosure () -> String
    ) throws(SystemError) -> Int32 {
        guard result >= 0 else { throw SystemError(operation(), errno: Errno(rawValue: -result)) }
        return result
    }
}
