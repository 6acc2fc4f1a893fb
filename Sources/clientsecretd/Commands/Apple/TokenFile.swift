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
        let file = Descriptor(adopting: number)
        // Room for the longest answer: a full disk is noticed while the code is good.
        let failed = posix_fallocate(number, 0, HTTPAnswer.longestBody)
        guard failed == 0 else {
            unsafe unlink(path)
            throw CommandFailure(
                .failed,
                "cannot save the tokens to \(Printable.name(path)): \(Errno(rawValue: failed))")
        }
        self.path = path
        self.file = file
    }

    deinit {
        if !isWritten { unsafe unlink(path) }
    }

    /// - Parameter used: the refresh token that was exchanged, which stays valid; Apple sends no new one.
    mutating func write(_ response: TokenResponse, refreshedWith used: String?) throws(CommandFailure) {
        var tokens = response.tokens
        if let used, response.refreshToken == nil { tokens.append(("refresh_token", used)) }
        let bytes = JSONText.object(tokens.map { ($0.name, .string($0.value)) }).bytes + [UInt8(ascii: "\n")]
        let failed =
            Descriptor.write(bytes, to: file.raw)
            ?? (ftruncate(file.raw, bytes.count) == 0 ? nil : Errno(rawValue: errno))
        if let errno = failed {
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
