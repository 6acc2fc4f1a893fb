import AppleClientSecret
import ArgumentParser
import Digest

/// How tokens are put out: as digests, in full, or into a file.
struct TokenOutputOptions: ParsableArguments {
    @Flag(help: "Show tokens in full, not their digests.")
    var showTokens = false

    @Option(
        help: .value(
            "file",
            "Save the tokens to this new file, which only its owner may read. 'refresh', 'id-token' and 'revoke' take it."
        ),
        completion: .file())
    var save: String?

    func shown(_ token: String) -> String {
        showTokens ? token : Token(Array(token.utf8)).fingerprint.description
    }

    /// Makes the file, before the code is spent on tokens that could not be kept; nil if none is named.
    func file() throws(CommandFailure) -> TokenFile? {
        guard let save else { return nil }
        return try TokenFile(save)
    }
}
