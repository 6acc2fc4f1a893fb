import Glibc
package import SystemPackage

/// A file descriptor that has one owner and is closed when this value is destroyed.
///
/// Every descriptor of the program is opened close-on-exec, so that no child inherits one.
package struct Descriptor: ~Copyable, Sendable {
    /// The number that system calls take; valid as long as this value exists.
    package let raw: Int32

    /// Takes over an open descriptor: no other code may close it from now on.
    package init(adopting raw: Int32) {
        self.raw = raw
    }

    /// Gives the descriptor up without closing it: the caller closes it.
    package consuming func release() -> Int32 {
        let raw = raw
        discard self
        return raw
    }

    /// Another descriptor of the same open file, which its own owner closes.
    package func duplicate() throws(SystemError) -> Descriptor {
        // None of the numbers of the standard descriptors, should one of them be closed.
        let copy = fcntl(raw, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        guard copy >= 0 else { throw SystemError("duplicate a descriptor", errno: Errno(rawValue: errno)) }
        return Descriptor(adopting: copy)
    }

    /// Writes all of `bytes` to a descriptor without an owner here, such as standard error. Returns the error that stopped it,
    /// or nil. Blocks as long as the descriptor does.
    package static func write(_ bytes: some Collection<UInt8>, to raw: Int32) -> Errno? {
        let bytes = ContiguousArray(bytes)
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.write(raw, bytes.baseAddress.map { unsafe $0 + written }, bytes.count - written)
            }
            if count >= 0 {
                written += count
            } else if errno != EINTR {
                return Errno(rawValue: errno)
            }
        }
        return nil
    }

    /// Reads some bytes from a descriptor without an owner here, such as standard input; empty at its end. It waits for them
    /// no longer than until `deadline`, and then throws `.timedOut`.
    ///
    /// - Parameter deadline: nil: it is read as its flags say, a regular file without waiting.
    package static func read(_ raw: Int32, until deadline: Deadline?) throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let deadline, ready([raw], atMost: deadline.rest) != [true] {
                throw SystemError("read", errno: .timedOut)
            }
            let count = unsafe Glibc.read(raw, &buffer, buffer.count)
            if count >= 0 { return Array(buffer[..<count]) }
            let cause = Errno(rawValue: errno)
            if cause == .interrupted { continue }
            // Another reader was quicker.
            guard cause == .wouldBlock, let deadline else { throw SystemError("read", errno: cause) }
            if deadline.hasPassed { throw SystemError("read", errno: .timedOut) }
        }
    }

    /// Reads a descriptor without an owner here to its end; nil if more than `limit` bytes come.
    ///
    /// - Parameter deadline: as for ``read(_:until:)``.
    package static func read(
        _ raw: Int32, atMost limit: Int, until deadline: Deadline? = nil
    ) throws(SystemError) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            let more = try read(raw, until: deadline)
            if more.isEmpty { return bytes }
            bytes += more
        }
        return nil
    }

    deinit {
        // On Linux, close frees the descriptor even on EINTR; trying again could close another thread's.
        _ = close(raw)
    }
}
