internal import AppleClientSecret
internal import Failures

/// Recognises files that hold no key from Apple.
enum WrongKeyFile {
    /// Blocks that a file has instead of a key, by their labels without blanks.
    private static let otherLabels = [
        "RSAPRIVATEKEY", "PUBLICKEY", "CERTIFICATE", "CERTIFICATEREQUEST", "NEWCERTIFICATEREQUEST",
    ]

    /// What a file is instead, in PEM or DER and despite damage; nil if that is unknown.
    static func error(in text: borrowing SecureBuffer) -> KeyError? {
        let isDER = text.count > 0 && text[0] == DERReader.Tag.sequence
        if isDER, let error = PrivateKeyInfo.otherKind(text) { return error }
        guard text.count <= KeyFileDiagnosis.maximumLength, var letters = SecureBuffer.letters(of: text) else {
            return nil
        }
        if let inner = text.decodedBase64(), let error = Self.error(in: inner) { return error }
        if text.starts(with: Array("PuTTY-User-Key-File-".utf8), at: 0) {
            return KeyError(.keyNotPEM, "it is a PuTTY key (.ppk)")
        }
        let keys = letters.ranges(of: Array("BEGINPRIVATEKEY".utf8)).count
        guard keys < 2 else { return KeyError(.keyMalformed, "it holds \(keys) private keys") }
        for label in PEMBlock.keyLabels.map({ $0.filter { $0 != " " } }) + otherLabels {
            guard let begin = letters.ranges(of: Array("BEGIN\(label)".utf8)).first else { continue }
            if let end = letters.ranges(of: Array("END\(label)".utf8)).first, begin.upperBound <= end.lowerBound,
                let der = PEMBlock.decode(letters, begin.upperBound..<end.lowerBound),
                let error = PrivateKeyInfo.otherKind(der)
            {
                return error
            }
            // A key that cannot be decoded counts more than other text.
            if !otherLabels.contains(label) { return nil }
        }
        // The label decides if the rest is damaged.
        if letters.contains("BEGINRSAPRIVATEKEY") { return KeyError(.keyIsRSA) }
        if letters.contains("BEGINPUBLICKEY") { return KeyError(.keyIsPublic) }
        if letters.contains("CERTIFICATEREQUEST") { return PrivateKeyInfo.certificateRequest }
        if letters.contains("BEGINCERTIFICATE") { return KeyError(.keyIsCertificate) }
        letters.dropName(before: Array("M".utf8))
        guard let der = PEMBlock.decode(letters, 0..<letters.count) else { return nil }
        return PrivateKeyInfo.otherKind(der)
    }
}
