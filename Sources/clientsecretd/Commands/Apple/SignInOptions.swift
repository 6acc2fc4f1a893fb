import AppleClientSecret
import ArgumentParser
import Config
import Failures
import Glibc
import Keys
import Linux
import Model
import SignIn

/// The client of the configuration with whose published secret Apple is asked.
struct ClientOptions: ParsableArguments {
    @Argument(
        help: "A client of the configuration. Its published secret is used.", completion: .configuredClients,
        transform: Flags.clientName)
    var client: ClientName

    @OptionGroup var settings: ConfigurationOption

    /// The secret, which no other process gets to know.
    func secret() throws -> PublishedSecret {
        try Hardening.protectSecrets()
        let settings = try PublishedSettings(settings)
        try settings.signInClient(client)
        return try PublishedSecret.first(of: client, in: settings.loaded, from: settings.source)
    }
}

extension Hardening {
    /// For commands that see secrets, tokens or keys: no core dump, no inspection by other processes of the same user.
    static func protectSecrets() throws(CommandFailure) {
        do throws(SystemError) {
            try forbidInspection()
        } catch {
            throw CommandFailure(.failed, error.description)
        }
    }
}

/// The file with the token that a command is given.
struct TokenArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A file with the token, or from 'exchange --save' (default: the terminal or standard input).",
            valueName: "file"),
        completion: .file())
    var file = NamedFile.standardInput

    /// The token: what the file holds, or this member of it.
    func token(_ member: String, asking question: String) throws(CommandFailure) -> String {
        try HeldToken.token(in: HeldToken.read(file, asking: question), of: file, member: member)
    }
}

/// A code or token that the operator holds. It is never on a command line, where every user of the machine sees it.
enum HeldToken {
    /// In bytes: a token response with everything in it.
    private static let longest = 65_536

    /// The text of a file, of standard input for `-`, or of what is typed without being shown where standard input is a
    /// terminal; without blanks around it.
    static func read(_ file: String, asking question: String) throws(CommandFailure) -> String {
        let bytes: [UInt8]
        if file == NamedFile.standardInput, isatty(STDIN_FILENO) == 1 {
            bytes = HiddenInput.line(question, longest: longest)
        } else {
            bytes = try NamedFile.read(file, limit: longest)
        }
        let text = String(decoding: bytes, as: UTF8.self).trimming(while: \.isWhitespace)
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

/// Tokens in answers.
struct TokenShowing: ParsableArguments {
    @Flag(help: "Show tokens in full, not their digests.")
    var showTokens = false

    @Option(
        help: ArgumentHelp(
            "Save the tokens to this new file, which only its owner may read. 'refresh', 'id-token' and 'revoke' take it.",
            valueName: "file"),
        completion: .file())
    var save: String?

    func shown(_ token: String) -> String {
        showTokens ? token : Token(Array(token.utf8)).fingerprint.description
    }

    /// Makes the file, before the code is spent on tokens that could not be kept; nil where none is named.
    func file() throws(CommandFailure) -> TokenFile? {
        guard let save else { return nil }
        return try TokenFile(save)
    }
}

/// The new file that `--save` names. It is removed again unless the tokens were written to it.
struct TokenFile: ~Copyable {
    private let path: String
    private let file: Descriptor
    private var isWritten = false

    fileprivate init(_ path: String) throws(CommandFailure) {
        let number = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
        guard number >= 0 else {
            throw CommandFailure(
                .failed,
                "cannot create \(Printable.name(path)): \(CommandOutput.text(ofErrno: errno)); name a new file")
        }
        let file = Descriptor(adopting: number)
        // Room for the longest answer: a full disk is noticed while the code is good.
        let failed = posix_fallocate(number, 0, HTTPAnswer.longestBody)
        guard failed == 0 else {
            unsafe unlink(path)
            throw CommandFailure(
                .failed,
                "cannot save the tokens to \(Printable.name(path)): \(CommandOutput.text(ofErrno: failed))")
        }
        self.path = path
        self.file = file
    }

    deinit {
        if !isWritten { unsafe unlink(path) }
    }

    mutating func write(_ response: TokenResponse) throws(CommandFailure) {
        let text = JSONText.object(
            response.tokens.map { ($0.name, .string($0.value)) })
        let bytes = text.bytes + [UInt8(ascii: "\n")]
        let failed = CommandOutput.write(bytes, to: file.raw) ?? (ftruncate(file.raw, bytes.count) == 0 ? nil : errno)
        if let errno = failed {
            throw CommandFailure(
                .failed, "cannot save the tokens to \(Printable.name(path)): \(CommandOutput.text(ofErrno: errno))")
        }
        isWritten = true
    }
}

extension TokenResponse {
    /// The tokens by their names in the response.
    var tokens: [(name: String, value: String)] {
        [("access_token", accessToken), ("refresh_token", refreshToken), ("id_token", identityToken)]
            .compactMap { name, value in value.map { (name, $0) } }
    }
}
