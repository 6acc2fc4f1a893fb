internal import AppleClientSecret
internal import Failures
package import Linux

/// The file with the certificates of the authorities that are trusted, in PEM: the setting `ca_file`, and the flag `--ca-file`.
package enum CAFile {
    /// In bytes: the certificates of all public authorities have some 220 KiB.
    package static let longest = 16 << 20

    private static let marks = ["CERTIFICATE", "TRUSTED CERTIFICATE"].map { Array("-----BEGIN \($0)-----".utf8) }

    /// Checks a file that libcurl reads. It is guarded as the other files of a login are.
    package static func check(at path: String, as identity: Identity) throws(LoginFile.Unusable) {
        let bytes = try LoginFile.bytes(at: path, as: identity, longest: longest)
        guard marks.contains(where: { bytes.firstOffset(of: $0) != nil }) else {
            throw LoginFile.Unusable(words: "\(Printable.name(path)) holds no certificate in PEM")
        }
    }
}
