internal import Failures
package import Rotation

/// The passphrase of an encrypted key file, in secure memory.
package struct Passphrase: ~Copyable {
    /// The longest passphrase, in bytes: what OpenSSL's own tools read (PEM_BUFSIZE).
    static let maximumLength = 1024

    /// In bytes, with the LF or CR LF that an editor leaves at the end.
    static let maximumFileLength = maximumLength + 2

    let bytes: SecureBuffer

    /// Reads an open file to its end; one line break at the end, as editors add it, is not part of the passphrase.
    ///
    /// - Parameter place: what failures name.
    package init(descriptor: Int32, place: Failure.Place) throws(Failure) {
        var bytes: SecureBuffer
        do throws(KeyFlaw) {
            bytes = try KeyText.read(descriptor, atMost: Self.maximumFileLength)
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
