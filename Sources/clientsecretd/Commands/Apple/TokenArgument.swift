import AppleClientSecret
import ArgumentParser
import Formats
import Glibc

/// The code or token that the operator holds. It is never on a command line, which every user of the machine can see.
struct TokenArgument: ParsableArguments {
    @Argument(
        help: .value(
            "file", "A file with the token, or from 'exchange --save' (default: the terminal or standard input)."),
        completion: .file())
    var file = NamedFile.standardInput

    /// The token: the file's content, or this member of it.
    func token(_ member: String, asking question: String) throws(CommandFailure) -> String {
        try Self.token(in: Self.read(file, asking: question), of: file, member: member)
    }

    /// In bytes: a token response with everything in it.
    private static let longest = 65_536

    /// The text of a file, or of standard input for `-`. If standard input is a terminal, it is typed without being shown.
    /// Surrounding blanks are removed, and the byte order mark that some editors write.
    static func read(_ file: String, asking question: String) throws(CommandFailure) -> String {
        let bytes: [UInt8]
        if file == NamedFile.standardInput, isatty(STDIN_FILENO) == 1 {
            bytes = UnechoedInput.line(question, longest: longest)
        } else {
            bytes = try NamedFile.read(file, limit: longest)
        }
        guard !PrivateKeyText.isIn(bytes) else {
            throw CommandFailure(
                .failed, "\(NamedFile.shown(file)): this is a private key, not a code or token, and is never sent")
        }
        let text = String(decoding: bytes, as: UTF8.self).trimming { $0.isWhitespace || $0 == "\u{FEFF}" }
        guard !text.isEmpty else { throw CommandFailure(.failed, "\(NamedFile.shown(file)): it is empty") }
        return String(text)
    }

    /// The token in a text: the text itself, or this member of a JSON object, as 'exchange --save' writes it.
    static func token(in text: String, of file: String, member: String) throws(CommandFailure) -> String {
        guard text.hasPrefix("{") else {
            guard text.utf8.allSatisfy(\.isASCIIVisible) else {
                throw CommandFailure(
                    .failed, "\(NamedFile.shown(file)): this is not a token: it contains spaces or other characters")
            }
            return text
        }
        guard let token = (try? JSONValue(Array(text.utf8)))?[member]?.text else {
            throw CommandFailure(.failed, "\(NamedFile.shown(file)): this is not a JSON object with \"\(member)\"")
        }
        return token
    }
}
