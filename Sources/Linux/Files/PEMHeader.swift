internal import Glibc

/// The line with which a PEM file of a private key begins.
enum PEMHeader {
    /// In bytes: the longest, `-----BEGIN ENCRYPTED PRIVATE KEY-----`. What follows a shorter one within this length is
    /// the same in every key.
    private static let longest = 37

    /// Whether the file at the real path begins with one; false where it cannot be read.
    static func begins(_ path: String) -> Bool {
        guard let descriptor = try? ForeignFile.open(path) else { return false }
        var bytes = [UInt8](repeating: 0, count: longest)
        let count = unsafe read(descriptor.raw, &bytes, longest)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        return text.hasPrefix("-----BEGIN ") && text.contains("PRIVATE KEY-----")
    }
}
