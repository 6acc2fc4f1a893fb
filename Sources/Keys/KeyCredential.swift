internal import Linux

/// The credential of a key or passphrase: systemd's copy of a file, made when it started the service.
package enum KeyCredential {
    /// Whether the file still holds what was copied; nil if this process may not read both, or one is longer than any key. Both
    /// are read into secure memory only.
    package static func isCurrent(_ credential: String, of source: String) -> Bool? {
        DiskTimeout.value(at: source) { () -> Bool? in
            do {
                let passed = try text(of: credential)
                let now = try text(of: source)
                guard passed.count == now.count else { return false }
                for index in 0..<now.count where passed[index] != now[index] { return false }
                return true
            } catch {
                return nil
            }
        } ?? nil
    }

    private static func text(of path: String) throws -> SecureBuffer {
        let file = try ForeignFile.open(path)
        return try KeyFileReader.read(file.raw, atMost: KeyFileReader.maximumLength)
    }
}
