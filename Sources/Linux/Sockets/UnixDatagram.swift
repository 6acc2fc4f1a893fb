import CLinux
import Glibc

/// A Unix datagram socket for sending, which never waits for a reader.
package struct UnixDatagram: ~Copyable, Sendable {
    /// Becomes writable when there is room again for a message that ``send(_:to:passing:)`` could not send.
    package let descriptor: Descriptor

    package init() throws(SystemError) {
        descriptor = Descriptor(adopting: try SystemError.check(clinux_datagram_create(), "make a datagram socket"))
    }

    /// Sends the bytes as one datagram. False, with nothing sent, when the reader's queue is full;
    /// net.unix.max_dgram_qlen says how many fit.
    ///
    /// Throws `.connectionRefused` or `.noSuchFileOrDirectory` if nothing reads, `.fileNameTooLong` above 107 bytes.
    ///
    /// - Parameters:
    ///   - address: an absolute path, looked up each time, or an abstract address with `@` in front.
    ///   - passed: a descriptor; the reader gets a copy.
    package func send(_ bytes: [UInt8], to address: String, passing passed: Int32? = nil) throws(SystemError) -> Bool {
        // Only a connected socket can be polled for room in the queue.
        try SystemError.check(unsafe clinux_datagram_connect(descriptor.raw, address), "send to \(address)")
        let sent = unsafe clinux_datagram_send(descriptor.raw, bytes, bytes.count, passed ?? -1)
        if sent == -EAGAIN { return false }
        try SystemError.check(sent, "send to \(address)")
        return true
    }
}
