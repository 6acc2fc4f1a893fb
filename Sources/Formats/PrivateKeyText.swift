/// Private keys as people put them into settings.
package enum PrivateKeyText {
    /// In PEM; the same in base64, of each kind of key; and PKCS #8 of a P-256 key in base64 without its PEM header, behind the
    /// length.
    private static let marks = [
        "PRIVATE KEY-----", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS", "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS",
        "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURSBLRVkt", "AgEAMBMGByqGSM49AgEG",
    ].map { Array($0.utf8) }

    /// Whether there is one in the bytes, however its line breaks are written.
    package static func isIn(_ bytes: [UInt8]) -> Bool { marks.contains { bytes.firstRange(of: $0) != nil } }
}
