import AppleClientSecret
import Digest
import Failures
import Model
import Outputs

extension SecretCache {
    /// `lines` with every cached secret replaced by its fingerprint. Other text that could be a secret or a key is removed,
    /// because a hook's output is logged. Nil for a line of which nothing is left.
    ///
    /// - Parameter isCut: whether the last line is cut off.
    func redacted(_ lines: [String], isCut: Bool) -> [String?] {
        let known = all
        let lengths = Set(known.values.map { $0.token.withBytes(\.count) })
        let filtered = PrintedSecrets(lines).replaced(lengths: lengths, isCut: isCut) { bytes in
            let fingerprint = Token(bytes).fingerprint
            return known[fingerprint] == nil ? nil : fingerprint.description
        }
        return Redaction.printed(lineByLine: filtered)
    }
}
