import AppleAPI
import AppleClientSecret
import Failures
import Glibc
import Linux
import SystemPackage

/// The new file that `--save` names. It is removed again unless the tokens were written to it.
struct TokenFile: ~Copyable {
    private let path: String
    private let file: Descriptor
    private var isWritten = false

    init(_ path: String) throws(CommandFailure) {
        let number = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
        guard number >= 0 else {
            throw CommandFailure(
                .failed,
                "cannot create \(Printable.name(path)): \(Errno(rawValue: errno)); name a new file")
        }
        self.path = path
        file = Descriptor(adopting: number)
    }

    deinit {
        if !isWritten { unsafe unlink(path) }
    }

    /// - Parameter used: the refresh token that was exchanged, which stays valid; Apple sends no new one.
    mutating func write(_ response: TokenResponse, refreshedWith used: String?) throws(CommandFailure) {
        var tokens = response.tokens
        if let used, response.refreshToken == nil { tokens.append(("refresh_token", used)) }
        let bytes = JSONText.object(tokens.map { ($0.name, .string($0.value)) }).bytes + [UInt8(ascii: "\n")]
        if let errno = Descriptor.write(bytes, to: file.raw) {
            throw CommandFailure(
                .failed, "cannot save the tokens to \(Printable.name(path)): \(errno)")
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
