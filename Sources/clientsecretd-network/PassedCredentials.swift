import Glibc

/// The files that systemd's LoadCredential= passes to a role.
enum PassedCredentials {
    /// `$CREDENTIALS_DIRECTORY`; nil if systemd has passed no credentials.
    static var directory: String? {
        unsafe getenv("CREDENTIALS_DIRECTORY").map { unsafe String(cString: $0) }
    }

    /// The path of a credential of this name; nil if systemd has passed none.
    static func path(of name: String) -> String? { directory.map { $0 + "/" + name } }
}
