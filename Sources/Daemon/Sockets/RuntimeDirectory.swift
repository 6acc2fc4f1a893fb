import Linux

/// `/run/clientsecretd`, which systemd-tmpfiles creates (systemd/clientsecretd.tmpfiles).
enum RuntimeDirectory {
    private static let path = "/run/clientsecretd"

    /// Creates its missing parts if the daemon runs without systemd. Failures are ignored: the code that needs the directory
    /// reports them.
    static func make(as identity: Identity) {
        for directory in [path, path + "/out"] {
            try? GuardedPath.makeDirectory(directory, mode: 0o755, as: identity)
        }
    }
}
