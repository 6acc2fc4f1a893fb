import CLibsystemd
import Glibc
package import Linux
import SystemPackage

/// A client of the system's journal (systemd's native journal protocol).
///
/// Not libsystemd's `sd_journal_sendv`, which blocks while journald does not read: for ever if its disk does not respond.
package final class Journal: Sendable {
    private let socket: UnixDatagram
    private let address: String

    /// Becomes writable when there is room for what could not be sent.
    package var raw: Int32 { socket.descriptor.raw }

    /// Fields sent per entry, at most: journald silently drops an entry of more than 1,024, its own included
    /// (ENTRY_FIELD_COUNT_MAX in its source; 1,100 were seen to be dropped by 252).
    static let fieldLimit = 1_000

    /// - Parameter address: where journald listens.
    package init(at address: String = "/run/systemd/journal/socket") throws(SystemError) {
        socket = try UnixDatagram()
        self.address = address
    }

    /// Writes one entry; a field may come several times, and those beyond a thousand are left out. Returns false, with
    /// nothing written, when there is no room now.
    package func send(_ fields: [(name: String, value: String)]) throws(SystemError) -> Bool {
        let fields = Array(fields.prefix(Self.fieldLimit))
        do throws(SystemError) {
            return try socket.send(Self.datagram(of: fields), to: address)
        } catch {
            // libsystemd sends what exceeds a datagram by a file in memory. It blocks without room, so check first.
            guard error.errno == .messageTooLong else { throw error }
            guard Descriptor.waitUntilWritable(socket.descriptor.raw, atMost: 0) else { return false }
            try SystemError.check(Self.sendLarge(fields), "write to the journal")
            return true
        }
    }

    /// `NAME=value`, one per line; a value with line breaks follows its length: eight bytes, little-endian.
    static func datagram(of fields: [(name: String, value: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            bytes += name.utf8
            if value.utf8.contains(UInt8(ascii: "\n")) {
                bytes.append(UInt8(ascii: "\n"))
                let length = UInt64(value.utf8.count)
                for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: length >> (8 * UInt64(byte)))) }
            } else {
                bytes.append(UInt8(ascii: "="))
            }
            bytes += value.utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    private static func sendLarge(_ fields: [(name: String, value: String)]) -> Int32 {
        var bytes: [UInt8] = []
        var lengths: [Int] = []
        for field in fields {
            let before = bytes.count
            bytes += field.name.utf8
            bytes.append(UInt8(ascii: "="))
            bytes += field.value.utf8
            lengths.append(bytes.count - before)
        }
        return unsafe bytes.withUnsafeMutableBytes { buffer in
            var pieces: [iovec] = unsafe []
            var offset = 0
            for length in lengths {
                unsafe pieces.append(iovec(iov_base: buffer.baseAddress.map { unsafe $0 + offset }, iov_len: length))
                offset += length
            }
            return unsafe sd_journal_sendv(pieces, Int32(pieces.count))
        }
    }
}
