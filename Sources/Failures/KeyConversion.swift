/// How a damaged or foreign key file becomes PKCS#8 PEM.
package enum KeyConversion: Hashable, Sendable {
    /// A key without PEM around it.
    case fromDER
    /// An encrypted `EC PRIVATE KEY`.
    case fromEncryptedSEC1
    /// A key that is encrypted as OpenSSL 3 opens it only with its legacy provider.
    case fromOldEncryption
    /// A key that is encrypted with more iterations than are carried out.
    case fewerIterations
    /// The base64 of a whole PEM file. With the words behind `BEGIN` if that file was damaged, too.
    case fromBase64(label: String?)
    /// Text in which the base64 of a key can be found; with the words behind `BEGIN`.
    case fromLetters(label: String)

    /// Whether the command asks for the key's passphrase at the terminal.
    package var asksForPassphrase: Bool {
        switch self {
        case .fromEncryptedSEC1, .fromOldEncryption, .fewerIterations: true
        case .fromDER, .fromBase64, .fromLetters: false
        }
    }

    func copy(of path: String) -> String {
        let suffix =
            switch self {
            case .fromDER: "der"
            case .fromEncryptedSEC1, .fromOldEncryption, .fewerIterations: "old"
            case .fromBase64: "base64"
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
        case .fromEncryptedSEC1: return ShellCommand("openssl pkcs8 -topk8 -v2 aes-256-cbc -in \(old) >\(new)")
        case .fromOldEncryption:
            return ShellCommand(
                "openssl pkcs8 -topk8 -v2 aes-256-cbc -provider default -provider legacy -in \(old) >\(new)")
        case .fewerIterations: return ShellCommand("openssl pkcs8 -topk8 -iter 600000 -in \(old) >\(new)")
        case .fromBase64(let label):
            // The first long text without a gap. Padding may be missing.
            let decode = ShellCommand(
                #"tr -d '[:space:]\\\000' | grep -aEo '[A-Za-z0-9+/]{200,}=*' | head -n 1 | awk '{ while (length($0) % 4) $0 = $0 "="; print }' | base64 -d"#
            )
            guard let decode, let text = ShellCommand("cat \(old)")?.pipe(decode) else { return nil }
            guard let label else { return ShellCommand("\(text) >\(new)") }
            return Self.pem(of: text, label, to: new)
        case .fromLetters(let label): return ShellCommand("cat \(old)").flatMap { Self.pem(of: $0, label, to: new) }
        }
    }

    /// Writes the base64 of a key that is found in a command's output, as PEM.
    private static func pem(of text: ShellCommand, _ label: String, to new: String) -> ShellCommand? {
        let mark = label.filter { $0 != " " }
        // Removes the rest of BEGIN, END and escaped line breaks, and a name with "=" in front of the key.
        let script = #"s/\\\\*[nr]//g; s/\\//g; s/END\#(mark).*//; s/.*BEGIN\#(mark)//; s/^[^=]*=\(M\)/\1/"#
        // Written in one word, BEGIN and its dashes would be treated as a key and cut away when this is shown.
        return ShellCommand(
            #"d=----- && { echo $d\#("BEGIN " + label)$d; \#(text) | tr -cd \#(#"A-Za-z0-9+/=\\"#) | sed \#(script) | fold -w 64; echo; echo $d\#("END " + label)$d; } >\#(new)"#
        )
    }
}
