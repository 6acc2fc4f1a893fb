import AppleClientSecret

/// Private keys as people put them into settings, and into files that are for something else.
package enum PrivateKeyText {
    /// In PEM; the same in base64, of each kind of key; and in base64 without a PEM header. The last is PKCS #8 of a P-256 key
    /// after the length. Without blanks.
    private static let marks = [
        "PRIVATEKEY-----", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS", "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS",
        "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURSBLRVkt", "AgEAMBMGByqGSM49AgEG",
    ].map { Array($0.utf8) }

    /// The beginning of a key in DER after its length: PKCS #8 in its two versions, SEC 1, and PKCS #1.
    private static let beginnings: [[UInt8]] = [[2, 1, 0, 0x30], [2, 1, 1, 0x30], [2, 1, 1, 4], [2, 1, 0, 2]]
    /// PKCS #5, with which PKCS #8 is encrypted, behind the length of the algorithm.
    private static let encryption: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05]

    /// In characters: a key of P-256 has more.
    private static let shortest = 60

    /// Whether there is one in the bytes, in PEM, DER or base64, however its line breaks are written.
    package static func isIn(_ bytes: [UInt8]) -> Bool {
        if isDER(bytes) { return true }
        let dense = dense(bytes)
        return marks.contains { dense.firstOffset(of: $0) != nil } || decoded(dense).contains(where: isIn)
    }

    /// The bytes without blanks, line breaks written as `\n`, and the zeros of UTF-16.
    private static func dense(_ bytes: [UInt8]) -> [UInt8] {
        var dense: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let isEscaped =
                bytes[index] == UInt8(ascii: "\\") && index + 1 < bytes.count && "nr".utf8.contains(bytes[index + 1])
            if !isEscaped, bytes[index] > 0x20 { dense.append(bytes[index]) }
            index += isEscaped ? 2 : 1
        }
        return dense
    }

    /// The bytes in a text's pieces of base64 or base64url.
    private static func decoded(_ dense: [UInt8]) -> [[UInt8]] {
        dense.split { !$0.isASCIIAlphanumeric && !"+/-_".utf8.contains($0) }.filter { $0.count >= shortest }
            .compactMap { Base64.decode($0, in: .standard) ?? Base64.decode($0, in: .url) }
    }

    private static func isDER(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 4, bytes[0] == 0x30 else { return false }
        let content: ArraySlice<UInt8>
        switch bytes[1] {
        case ..<0x80: content = bytes[2...]
        case 0x81: content = bytes[3...]
        case 0x82: content = bytes[4...]
        default: return false
        }
        return beginnings.contains { content.starts(with: $0) }
            || content.first == 0x30 && content.dropFirst(2).starts(with: encryption)
    }
}
