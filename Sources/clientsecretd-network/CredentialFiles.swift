import Failures
import Formats
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

    /// The text of a file with a token or a password, without line breaks at its end. What is read here is sent, and a private
    /// key never is.
    static func secret(at path: String) throws(Unusable) -> String {
        let bytes = try bytes(at: path)
        guard !PrivateKeyText.isIn(bytes) else {
            throw Unusable(words: "\(Printable.name(path)) holds a private key, which is never sent")
        }
        return try text(bytes, at: path)
    }

    /// The text of another file, likewise.
    static func text(at path: String) throws(Unusable) -> String { try text(bytes(at: path), at: path) }

    private static func bytes(at path: String) throws(Unusable) -> [UInt8] {
        do throws(FileError) {
            return try ForeignFile.contents(of: path, limit: longest)
        } catch {
            let reason =
                error.cause.map { ": \(ErrorNumber.words(for: $0))" }
                ?? (error.code == .fileTooLarge ? " has more than \(longest) bytes" : " is not a regular file")
            throw Unusable(words: Printable.name(path) + reason)
        }
    }

    private static func text(_ bytes: [UInt8], at path: String) throws(Unusable) -> String {
        var bytes = bytes
        while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else {
            throw Unusable(words: "\(Printable.name(path)) is empty or not text")
        }
        return text
    }
}
