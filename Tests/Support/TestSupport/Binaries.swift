import Foundation

/// The programs that the tests run.
///
/// By default those of the debug build, which every build of the tests includes; `make test-all` names the release build's.
package enum Binaries {
    /// `clientsecretd`.
    package static let daemon: String =
        ProcessInfo.processInfo.environment["CLIENTSECRETD_BINARY"] ?? repository + "/.build/debug/clientsecretd"

    /// `clientsecretd-network`, which is next to ``daemon``.
    package static let network: String = daemon + "-network"

    /// The folder of both.
    package static let folder: String = URL(fileURLWithPath: daemon).deletingLastPathComponent().path
}
