internal import AppleClientSecret
internal import Failures
package import Model

/// The passphrase of an encrypted key file, in secure memory.
package struct Passphrase: ~Copyable {
    /// The longest passphrase, in bytes: the limit of OpenSSL's own tools (PEM_BUFSIZE).
    static let maximumLength = 1024

    /// In bytes, with the LF or CR LF that an editor leaves at the end.
    static let maximumFileLength = maximumLength + 2

    let bytes: SecureBuffer

    /// Reads an open file to its end; one line break at the end, as editors add it, is not part of the passphrase.
    ///
    /// - Parameter place: the place that failures name.
    package init(descriptor: Int32, place: Failure.Place) throws(Failure) {
        var bytes: SecureBuffer
        do throws(KeyError) {
            bytes = try KeyFileReader.read(descriptor, atMost: Self.maximumFileLength)
        } catch {
            let tooLong = error.code == .keyTooLarge ? "it is longer than \(Self.maximumLength) bytes" : nil
            throw Failure(.passphraseUnusable, at: place, cause: error.cause, detail: tooLong)
        }
        if bytes.count > 0, bytes[bytes.count - 1] == UInt8(ascii: "\n") {
            bytes.truncate(to: bytes.count - 1)
            if bytes.count > 0, bytes[bytes.count - 1] == UInt8(ascii: "\r") { bytes.truncate(to: bytes.count - 1) }
        }
        guard bytes.count > 0 else { throw Failure(.passphraseUnusable, at: place, detail: "it is empty") }
        guard bytes.count <= Self.maximumLength else {
            throw Failure(.passphraseUnusable, at: place, detail: "it is longer than \(Self.maximumLength) bytes")
        }
        self.bytes = bytes
    }
}

extension Passphrase {
    /// A part that probably does not belong to it, if it does not open the key; nil if nothing is suspicious.
    var doubt: String? {
        let length = bytes.count
        guard length > 0 else { return nil }
        let (first, last) = (bytes[0], bytes[length - 1])
        if bytes.starts(with: [0xEF, 0xBB, 0xBF], at: 0) {
            return "it begins with a byte-order mark, which counts as part of the passphrase"
        }
        // First: its mark begins with that of UTF-16.
        if bytes.starts(with: [0xFF, 0xFE, 0, 0], at: 0) || bytes.starts(with: [0, 0, 0xFE, 0xFF], at: 0) {
            return "it is UTF-32; write it as UTF-8"
        }
        if bytes.starts(with: [0xFF, 0xFE], at: 0) || bytes.starts(with: [0xFE, 0xFF], at: 0) {
            return "it is UTF-16; write it as UTF-8"
        }
        if length > 1, first == last, first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
            return "it is in quotes, which count as part of the passphrase"
        }
        if first.isASCIISpace || last.isASCIISpace {
            return "it begins or ends with a space or a line break, which counts as part of the passphrase"
        }
        return nil
    }
}
