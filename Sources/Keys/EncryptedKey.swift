internal import AppleClientSecret
internal import CLibcrypto
internal import Failures
internal import Model

/// Decrypts an EncryptedPrivateKeyInfo (RFC 5208, section 6) within secure memory: libcrypto's own function leaves the
/// decoded key in ordinary memory for a while.
enum EncryptedKey {
    /// Room that a cipher may need beyond the text: one block, 32 bytes at most (EVP_MAX_BLOCK_LENGTH).
    private static let blockRoom = 32

    /// The PrivateKeyInfo, decrypted with `passphrase`.
    static func open(
        _ der: borrowing SecureBuffer, passphrase: borrowing SecureBuffer
    ) throws(KeyError) -> SecureBuffer {
        defer { ERR_clear_error() }
        // The ciphertext is no secret: libcrypto may parse it in ordinary memory.
        let envelope = unsafe der.withUnsafeBytes(0..<der.count) { bytes in
            var position = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            return unsafe d2i_X509_SIG(nil, &position, bytes.count)
        }
        guard let envelope = unsafe envelope else { throw KeyError(.keyMalformed) }
        defer { unsafe X509_SIG_free(envelope) }
        var algorithm: UnsafePointer<X509_ALGOR>?
        var content: UnsafePointer<ASN1_OCTET_STRING>?
        unsafe X509_SIG_get0(envelope, &algorithm, &content)
        guard let algorithm = unsafe algorithm, let content = unsafe content else { throw KeyError(.keyMalformed) }
        try unsafe WorkFactor.check(algorithm)
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw KeyError(.outOfMemory) }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let isReady = unsafe passphrase.withUnsafeBytes(0..<passphrase.count) { bytes in
            unsafe EVP_PBE_CipherInit(
                algorithm.pointee.algorithm, bytes.assumingMemoryBound(to: CChar.self).baseAddress,
                Int32(bytes.count), algorithm.pointee.parameter, context, 0) == 1
        }
        guard isReady else {
            // OpenSSL 3 has the ciphers of old schemes in its legacy provider.
            if let name = ObjectName.short(of: unsafe OBJ_obj2nid(algorithm.pointee.algorithm)), name.hasPrefix("PBE-")
            {
                throw KeyFileDiagnosis(.oldEncryption(name)).keyError
            }
            throw KeyError(.keyMalformed, "it is encrypted in a way that libcrypto cannot decrypt")
        }
        let count = unsafe ASN1_STRING_length(content)
        guard count > 0, var opened = SecureBuffer(capacity: Int(count) + blockRoom) else {
            throw KeyError(count > 0 ? .outOfMemory : .keyMalformed)
        }
        let isOpen = unsafe opened.overwrite { memory -> Int? in
            let output = unsafe memory.assumingMemoryBound(to: UInt8.self).baseAddress
            var written: Int32 = 0
            var last: Int32 = 0
            guard let output = unsafe output,
                unsafe EVP_DecryptUpdate(context, output, &written, ASN1_STRING_get0_data(content), count) == 1,
                unsafe EVP_DecryptFinal_ex(context, output + Int(written), &last) == 1
            else { return nil }
            return Int(written + last)
        }
        // A wrong passphrase gives bad padding or, once in 256 times, a text that is no sequence.
        guard isOpen, DERReader.isSequence(opened) else { throw KeyError(.keyWrongPassphrase) }
        return opened
    }
}
