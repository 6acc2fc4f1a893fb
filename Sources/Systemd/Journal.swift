import CLibsystemd
import Glibc

/// The system's journal, written to with fields (sd_journal_sendv(3)).
package enum Journal {
    /// Writes one entry; a field may come several times. False when journald does not take it.
    package static func send(_ fields: [(name: String, value: String)]) -> Bool {
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
            return unsafe sd_journal_sendv(pieces, Int32(pieces.count)) >= 0
        }
    }
}
