internal import CLibcrypto

/// The digest under ES256, fingerprints and key prints (FIPS 180-4).
package enum SHA256 {
    /// 32 bytes.
    package static let length = 32

    /// Fetched once: looking it up again costs a third of a signature. It is never changed, and never freed.
    private nonisolated(unsafe) static let method = unsafe EVP_MD_fetch(nil, "SHA256", nil)

    /// The digest of `bytes`.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var length: UInt32 = 0
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: Self.length) { buffer, count in
            let done = unsafe EVP_Digest(bytes, bytes.count, buffer.baseAddress, &length, method, nil)
            // No trouble could name a mistake of the caller's here: a libcrypto without SHA-256 cannot do anything.
            precondition(done == 1 && length == Self.length, "libcrypto has no SHA-256")
            count = Self.length
        }
        return digest
    }

    /// The digest of `bytes` in lower-case hexadecimal.
    static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest(bytes).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
