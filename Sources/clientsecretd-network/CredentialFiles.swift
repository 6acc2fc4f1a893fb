import Failures
import Glibc
import Linux

/// Reads the files with a role's credentials, tokens and passwords, which systemd's LoadCredential= or an administrator puts
/// in place.
enum CredentialFiles {
    /// Why a file cannot be used, in words that name it.
    struct Unusable: Error {
        let words: String
    }

    /// `$CREDENTIALS_DIRECTORY`; nil where systemd has passed no credentials.
    static var directory: String? {
        unsafe getenv("CREDENTIALS_DIRECTORY").map { unsafe String(cString: $0) }
    }

    /// Where a credential of this name would be; nil where systemd has passed none.
    static func path(of name: String) -> String? { directory.map { $0 + "/" + name } }

    /// In bytes: tokens of service accounts have some 2 KiB.
    private static let longest = 65_536

    /// The text of a file, without line breaks at its end.
    static func text(at path: String) throws(Unusable) -> String {
        var bytes: [UInt8]
        do throws(FileError) {
            bytes = try ForeignFile.contents(of: path, limit: longest)
        } catch {
            let reason =
                error.cause.map { ": \(ErrorNumber.words(for: $0))" }
                ?? (error.code == .fileTooLarge ? " has more than \(longest) bytes" : " is not a regular file")
            throw Unusable(words: Printable.name(path) + reason)
        }
        while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else {
            throw Unusable(words: "\(Printable.name(path)) is empty or not text")
        }
        return text
    }
}
