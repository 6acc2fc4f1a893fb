import Glibc
import Linux

/// The environment of `clientsecretd-network` where `run --once` starts it for one request, because its service has no socket.
enum NetworkProgramEnvironment {
    /// The variables that it gets from this process, if they are set: the proxy to use, the directory of the credentials, and sudo's
    /// caller, whose files are trusted here and there.
    private static let variables = [
        "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY", "CREDENTIALS_DIRECTORY",
        "SUDO_UID",
    ]

    static var current: [String: String] {
        var environment = ChildProcess.environment
        for name in variables { environment[name] = unsafe getenv(name).map { unsafe String(cString: $0) } }
        return environment
    }
}
