package import Linux

/// A client of the system's journal (systemd's native journal protocol).
///
/// Not libsystemd's `sd_journal_sendv`, which blocks while journald does not read: for ever if its disk does not respond.
package final class Journal: Sendable {
    private let socket: UnixDatagram
    private let address: String

    /// Becomes writable when there is room for unsent entries.
    package var raw: Int32 { socket.descriptor.raw }

    /// The maximum number of fields sent per entry. journald silently drops an entry of more than 1,024, its own included
    /// (ENTRY_FIELD_COUNT_MAX in its source; version 252 dropped 1,100).
    static let fieldLimit = 1_000

    /// Bytes sent of a value, at most: as many as journald takes of a line that a service prints. Only the text of a hook's
    /// arguments can be longer, and two of these and all other fields fit into one datagram.
    static let valueLimit = 49_152

    /// - Parameter address: the socket of journald.
    package init(at address: String = "/run/systemd/journal/socket") throws(SystemError) {
        socket = try UnixDatagram()
        self.address = address
    }

    /// Writes one entry; a field may come several times, those beyond a thousand are left out, and long values are cut. Returns
    /// false, with nothing written, when there is no room now.
    package func send(_ fields: [(name: String, value: String)]) throws(SystemError) -> Bool {
        try socket.send(Self.datagram(of: fields), to: address)
    }

    /// `NAME=value`, one per line; a value with line breaks follows its length: eight bytes, little-endian.
    static func datagram(of fields: [(name: String, value: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, whole) in fields.prefix(fieldLimit) {
            let value = String(decoding: whole.utf8.prefix(valueLimit), as: UTF8.self).utf8
            bytes += name.utf8
            if value.contains(UInt8(ascii: "\n")) {
                bytes.append(UInt8(ascii: "\n"))
                let length = UInt64(value.count)
                for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: length >> (8 * UInt64(byte)))) }
            } else {
                bytes.append(UInt8(ascii: "="))
            }
            bytes += value
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}
