import AppleClientSecret
package import Failures
import Formats
package import Linux

/// Reads the files that the configuration names for the network program: tokens, passwords, and a machine's own certificate and
/// key; for the authorities see ``CAFile``. Both that program and `check` use it. A token's owner decides where the secret goes,
/// so the files are guarded as keys are: they belong to root or the acting user, and no other user may write to them.
package enum LoginFile {
    /// Why a file cannot be used, in words that name it.
    package struct Unusable: Error {
        package let words: String
        /// Whether another user might read it.
        package let isDenied: Bool
        /// Whether another user may decide what it holds.
        package let isUnguarded: Bool
        /// Nil if the failure's code has it.
        package let remedy: Remedy?

        init(words: String, isDenied: Bool = false, isUnguarded: Bool = false, remedy: Remedy? = nil) {
            self.words = words
            self.isDenied = isDenied
            self.isUnguarded = isUnguarded
            self.remedy = remedy
        }
    }

    /// In bytes: tokens of service accounts have some 2 KiB.
    private static let longest = 65_536

    /// A token without white space around it.
    package static func token(at path: String, as identity: Identity) throws(Unusable) -> String {
        let text = try secret(at: path, as: identity).trimming(while: \.isWhitespace)
        guard !text.isEmpty else { throw empty(path) }
        return String(text)
    }

    /// The text of a file with a token or a password, without line breaks at its end. The text read here is sent, and a private
    /// key must never be.
    package static func secret(at path: String, as identity: Identity) throws(Unusable) -> String {
        let bytes = try bytes(at: path, as: identity)
        guard !PrivateKeyText.isIn(bytes) else {
            throw Unusable(words: "\(Printable.name(path)) holds a private key, which is never sent")
        }
        return try text(bytes, at: path)
    }

    /// The same for the text of another file.
    package static func text(at path: String, as identity: Identity) throws(Unusable) -> String {
        try text(bytes(at: path, as: identity), at: path)
    }

    /// - Parameter longest: in bytes.
    static func bytes(
        at path: String, as identity: Identity, longest: Int = longest
    ) throws(Unusable) -> [UInt8] {
        do throws(FileError) {
            return try ForeignFile.contents(of: path, limit: longest, writtenBy: identity, closing: isLogin)
        } catch {
            if error.code == .notGuarded, let detail = error.detail {
                throw Unusable(
                    words: "\(Printable.name(path)): \(detail)", isUnguarded: true, remedy: error.remedy)
            }
            let reason =
                error.cause.map { ": \(ErrorNumber.words(for: $0))" }
                ?? (error.code == .fileTooLarge ? " has more than \(longest) bytes" : " is not a regular file")
            throw Unusable(words: Printable.name(path) + reason, isDenied: error.code == .permissionDenied)
        }
    }

    /// Whether a file holds a token, a password or PEM, as far as its form shows.
    private static func isLogin(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self).trimming(while: \.isWhitespace)
        return text.hasPrefix("-----BEGIN ") || text.hasPrefix("AWS_") || !text.contains(where: \.isNewline)
    }

    private static func text(_ bytes: [UInt8], at path: String) throws(Unusable) -> String {
        var bytes = bytes
        while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self) else { throw empty(path) }
        return text
    }

    private static func empty(_ path: String) -> Unusable {
        Unusable(words: "\(Printable.name(path)) is empty or not text")
    }
}
