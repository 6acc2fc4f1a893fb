internal import Failures
internal import Glibc
package import Model

/// Reads a key file into secure memory, and the key in its text.
struct KeyFileReader: ~Copyable {
    /// The longest key file, in bytes: a key takes some 250, an encrypted one 500, and the file may also hold a chain
    /// of certificates. At most a quarter of the secure heap.
    static let maximumLength = 16_384

    private let text: SecureBuffer

    /// Reads an open file to its end.
    init(descriptor: Int32) throws(KeyError) {
        text = try Self.read(descriptor, atMost: Self.maximumLength)
    }

    /// Reads from `descriptor` to the end. Throws `.keyTooLarge` beyond `limit` bytes, and `.keyUnreadable` with the
    /// errno value when reading fails.
    static func read(_ descriptor: Int32, atMost limit: Int) throws(KeyError) -> SecureBuffer {
        var status = stat()
        let result = unsafe fstat(descriptor, &status)
        let isFile = result == 0 && status.st_mode & S_IFMT == S_IFREG
        guard !isFile || status.st_size <= limit else { throw KeyError(.keyTooLarge) }
        // One byte more than expected, so that the end is detected.
        guard var text = SecureBuffer(capacity: (isFile ? Int(status.st_size) : limit) + 1) else {
            throw KeyError(.outOfMemory)
        }
        if let errno = text.fill(from: descriptor, waits: !isFile) { throw KeyError(.keyUnreadable, cause: errno) }
        // A file that grew meanwhile is still being written: the text is incomplete.
        guard text.room > 0 else { throw KeyError(isFile ? .keyTruncated : .keyTooLarge) }
        return text
    }

    /// The one private key in the text.
    func privateKey(passphrase: borrowing Passphrase?) throws(KeyError) -> PKeyHandle {
        let blocks = try damageNamed { text throws(KeyError) in try PEMBlock.all(in: text) }
        let candidates = blocks.filter { PEMBlock.keyLabels.contains($0.label) }
        guard let block = candidates.first else {
            // A label with other blanks is damage, too.
            return try damageNamed { _ throws(KeyError) in throw Self.keyError(without: blocks) }
        }
        guard candidates.count == 1 else { throw KeyError(.keyMalformed, "it holds \(candidates.count) private keys") }
        if let error = KeyFileDiagnosis.errorOfText(after: blocks, in: text, label: block.label) { throw error }
        let isMixed = text.holdsText(around: block.range)
        if block.isEncrypted(in: text) { throw KeyFileDiagnosis(.encryptedSEC1, isMixed: isMixed).keyError }
        let der = try damageNamed { text throws(KeyError) in try block.decoded(from: text) }
        guard block.label == "ENCRYPTED PRIVATE KEY" else { return try PKeyHandle(der) }
        switch passphrase {
        case .none: throw KeyError(.keyNeedsPassphrase)
        case .some(let passphrase):
            do throws(KeyError) {
                return try PKeyHandle(EncryptedKey.open(der, passphrase: passphrase.bytes))
            } catch {
                if error.code == .keyWrongPassphrase { throw KeyError(error.code, passphrase.doubt) }
                throw isMixed ? error.ofMixedFile : error
            }
        }
    }

    /// Whether it certainly holds a private key and nothing else, although its file is damaged.
    var isDamagedKey: Bool { KeyFileDiagnosis(in: text)?.isMixed == false }

    /// Whether it is an encrypted key that this passphrase opens.
    func isOpened(by passphrase: consuming Passphrase?) -> Bool {
        do throws(KeyError) {
            _ = try privateKey(passphrase: nil)
            return false
        } catch {
            guard error.code == .keyNeedsPassphrase else { return false }
        }
        do throws(KeyError) {
            _ = try privateKey(passphrase: passphrase)
            return true
        } catch {
            return false
        }
    }

    /// Reads the text; throws the damage to the file, if that explains why it cannot be read.
    private func damageNamed<Value: ~Copyable>(
        _ read: (borrowing SecureBuffer) throws(KeyError) -> Value
    ) throws(KeyError) -> Value {
        do throws(KeyError) {
            return try read(text)
        } catch {
            // DER of a wrong key is named as that key.
            throw KeyFileDiagnosis(in: text)?.keyError
                ?? (error.code == .keyNotPEM ? PrivateKeyInfo.otherKind(text) : nil) ?? error
        }
    }

    /// The public key in the text, or the public half of the private one.
    func publicKey(passphrase: borrowing Passphrase?) throws(KeyError) -> PKeyHandle {
        guard let blocks = try? PEMBlock.all(in: text), blocks.count == 1, blocks[0].label == "PUBLIC KEY" else {
            return try privateKey(passphrase: passphrase)
        }
        let der = try blocks[0].decoded(from: text)
        guard let key = PublicKey.decode((0..<der.count).map { der[$0] }) else { throw KeyError(.keyMalformed) }
        switch PublicKey.kind(of: key) {
        case .p256: return key
        case .rsa: throw KeyError(.keyIsRSA)
        case .notEC(let name): throw KeyError(.keyNotEC, name)
        case .unnamedCurve: throw PrivateKeyInfo.unnamedCurve
        case .otherCurve(let name): throw KeyError(.keyWrongCurve, name)
        case .other: throw KeyError(.keyMalformed)
        }
    }

    /// The error for a text without a private key of the right kind.
    private static func keyError(without blocks: [PEMBlock]) -> KeyError {
        let labels = blocks.map(\.label)
        if labels.contains(where: { $0.hasPrefix("RSA ") }) { return KeyError(.keyIsRSA) }
        if labels.contains(where: { $0.hasPrefix("DSA ") }) { return PrivateKeyInfo.dsaKey }
        if labels.contains("OPENSSH PRIVATE KEY") { return KeyError(.keyMalformed, "it is an OpenSSH key") }
        if labels.contains("PUBLIC KEY") { return KeyError(.keyIsPublic) }
        if labels.contains(where: { $0.hasSuffix("CERTIFICATE") }) { return KeyError(.keyIsCertificate) }
        if labels.contains(where: { $0.hasSuffix("CERTIFICATE REQUEST") }) { return PrivateKeyInfo.certificateRequest }
        return KeyError(.keyMalformed, labels.first.map { "it holds \($0)" })
    }
}

extension PublicKey {
    /// Reads a key from an open file, to its end: a public or a private one in PEM, on P-256.
    ///
    /// - Parameters:
    ///   - descriptor: stays open; the caller closes it.
    ///   - place: the place that failures name.
    ///   - passphrase: decrypts an encrypted private key; else ignored.
    package convenience init(
        descriptor: Int32, place: Failure.Place, passphrase: borrowing Passphrase? = nil
    ) throws(Failure) {
        do throws(KeyError) {
            try self.init(KeyFileReader(descriptor: descriptor).publicKey(passphrase: passphrase))
        } catch {
            throw error.failure(at: place)
        }
    }
}
