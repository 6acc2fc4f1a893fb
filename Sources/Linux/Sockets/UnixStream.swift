import CLinux
import Glibc
import SystemPackage

/// A connection over a Unix socket, with blocking calls.
package struct UnixStream: ~Copyable {
    private let descriptor: Descriptor

    package var raw: Int32 { descriptor.raw }

    package init(adopting descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Connects. The timeout applies to this and to each later read and write, which then throw `.wouldBlock`.
    ///
    /// Throws `.noSuchFileOrDirectory` or `.connectionRefused` where nobody listens.
    package static func connect(to path: String, timeoutSeconds: Int64) throws(SystemError) -> UnixStream {
        UnixStream(
            adopting: Descriptor(
                adopting: try SystemError.check(
                    unsafe clinux_unix_connect(path, max(timeoutSeconds, 1)), "connect to \(path)")))
    }

    /// Writes all bytes.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // No SIGPIPE: a peer that has closed is an error like any other.
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe send(raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw SystemError("write to a socket", errno: Errno(rawValue: errno))
            }
        }
    }

    /// Waits for some bytes, at most `count`; empty once the peer closed its end.
    package func read(upTo count: Int) throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        while true {
            let taken = unsafe Glibc.read(raw, &buffer, count)
            if taken >= 0 { return Array(buffer[..<taken]) }
            if errno != EINTR { throw SystemError("read from a socket", errno: Errno(rawValue: errno)) }
        }
    }
}
