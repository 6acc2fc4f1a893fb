/// The line with which a PEM file of a private key begins.
enum PEMHeader {
    /// In bytes: the longest, `-----BEGIN ENCRYPTED PRIVATE KEY-----`. The bytes after a shorter one within this length are the
    /// same in every key.
    private static let longest = 37

    /// Whether the file at the real path begins with one; false if it cannot be read.
    static func begins(_ path: String) -> Bool {
        let text = String(decoding: ForeignFile.bytes(of: path, count: longest) ?? [], as: UTF8.self)
        return text.hasPrefix("-----BEGIN ") && text.contains("PRIVATE KEY-----")
    }
}
