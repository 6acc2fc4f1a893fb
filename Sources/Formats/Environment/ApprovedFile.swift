/// A file that its reader accepts only with exactly the content that was approved or signed. Each renewal changes the
/// content, and would leave the application without all of the file's settings.
package struct ApprovedFile: Hashable, Sendable {
    /// Why it is not written, as the end of a sentence.
    package let reason: String
    package let advice: String

    /// Nil for any other file.
    ///
    /// - Parameters:
    ///   - file: its name, without the directory.
    ///   - bytes: its content; empty if there is none.
    package init?(_ file: String, _ bytes: [UInt8]) {
        if file == ".envrc" {
            reason = "direnv runs .envrc only with the content that was approved, and a renewal changes it"
            advice = "write another file, such as .env, and let .envrc read it with \"dotenv_if_exists .env\""
        } else if Self.isSigned(bytes) {
            reason = "sops has encrypted it, and refuses it if anything but sops changes it"
            advice = "write another file, or the one that the deployment decrypts"
        } else {
            return nil
        }
    }

    /// Whether sops has written it as an environment file: it ends with a checksum of all values.
    private static func isSigned(_ bytes: [UInt8]) -> Bool {
        bytes.split(whereSeparator: \.isLineBreak).contains { $0.starts(with: "sops_mac=".utf8) }
    }
}
