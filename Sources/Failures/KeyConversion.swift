/// How a damaged or foreign key file becomes PKCS#8 PEM.
package enum KeyConversion: Hashable, Sendable {
    /// A key without PEM around it.
    case fromDER
    /// The same of an encrypted PKCS#8 key, which stays encrypted.
    case fromEncryptedDER
    /// An encrypted `EC PRIVATE KEY`.
    case fromEncryptedSEC1
    /// A key that is encrypted as OpenSSL 3 opens it only with its legacy provider.
    case fromOldEncryption
    /// A key that is encrypted with more iterations than are carried out.
    case fewerIterations
    /// The base64 of a whole PEM file.
    case fromBase64
    /// The base64 of that.
    case fromBase64Twice
    /// Text in which the base64 of a key can be found; with the words behind `BEGIN`.
    case fromLetters(label: String)

    /// Whether the command asks for the key's passphrase at the terminal.
    package var asksForPassphrase: Bool {
        switch self {
        case .fromEncryptedSEC1, .fromOldEncryption, .fewerIterations: true
        case .fromDER, .fromEncryptedDER, .fromBase64, .fromBase64Twice, .fromLetters: false
        }
    }

    func copy(of path: String) -> String {
        let suffix =
            switch self {
            case .fromDER, .fromEncryptedDER: "der"
            case .fromEncryptedSEC1, .fromOldEncryption, .fewerIterations: "old"
            case .fromBase64, .fromBase64Twice: "base64"
            case .fromLetters: "damaged"
            }
        return "\(path).\(suffix)"
    }

    /// The steps to take after ``ShellCommand/rewriteKey(_:by:)``.
    package func cleanup(of path: String) -> String {
        "once the key works, remove \(copy(of: path)), which holds it too"
    }

    func command(from old: String, to new: String) -> ShellCommand? {
        switch self {
        case .fromDER: return ShellCommand("openssl pkey -inform DER -in \(old) >\(new)")
        case .fromEncryptedDER:
            return ShellCommand(
                #"d=----- && { echo $d\#("BEGIN ENCRYPTED PRIVATE KEY")$d; base64 -w 64 \#(old); echo $d\#("END ENCRYPTED PRIVATE KEY")$d; } >\#(new)"#
            )
        case .fromEncryptedSEC1: return ShellCommand("openssl pkcs8 -topk8 -v2 aes-256-cbc -in \(old) >\(new)")
        case .fromOldEncryption:
            return ShellCommand(
                "openssl pkcs8 -topk8 -v2 aes-256-cbc -provider default -provider legacy -in \(old) >\(new)")
        case .fewerIterations: return ShellCommand("openssl pkcs8 -topk8 -iter 600000 -in \(old) >\(new)")
        case .fromBase64, .fromBase64Twice:
            let isOnce = self == .fromBase64
            let start = isOnce ? "LS0tLS1" : "TFMwdExT"
            // Padding may be missing.
            let decode = ShellCommand(
                constant: #"awk '{ while (length($0) % 4) $0 = $0 "="; print }' | base64 -d"#)
            return ShellCommand(
                #"tr -cd \#("A-Za-z0-9+/=") <\#(old) | sed \#(#"s/^[^=]*=\(\#(start)\)/\1/"#) | \#(isOnce ? decode : decode.pipe(decode)) >\#(new)"#
            )
        case .fromLetters(let label):
            let mark = label.filter { $0 != " " }
            // Removes the rest of BEGIN, END and escaped line breaks, and a name with "=" in front of the key.
            let script =
                #"s/\\\\*[nr]//g; s/\\//g; s/END\#(mark).*//; s/.*BEGIN\#(mark)//; s/^[^=]*=\(M\)/\1/"#
            // Written in one word, BEGIN and its dashes would be treated as a key and cut away when this is shown.
            return ShellCommand(
                #"d=----- && { echo $d\#("BEGIN " + label)$d; tr -cd \#(#"A-Za-z0-9+/=\\"#) <\#(old) | sed \#(script) | fold -w 64; echo; echo $d\#("END " + label)$d; } >\#(new)"#
            )
        }
    }
}
