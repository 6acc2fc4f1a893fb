import Linux

/// `/run/clientsecretd`, which systemd-tmpfiles creates (systemd/clientsecretd.tmpfiles).
enum RuntimeDirectory {
    private static let path = "/run/clientsecretd"

    /// Makes what is missing of it, for a daemon without systemd. Failures are ignored: whatever needs the directory
    /// reports what is wrong with it.
    static func make(as identity: Identity) {
        for directory in [path, path + "/out"] {
            try? GuardedPath.makeDirectory(directory, mode: 0o755, as: identity)
        }
    }
}
