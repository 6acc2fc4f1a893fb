internal import CLibcrypto

/// The digest in ES256, fingerprints and key digests (FIPS 180-4).
package enum SHA256 {
    /// In bytes.
    package static let length = 32

    /// Fetched once: each lookup takes a third of a signature's time. It is never changed, and never freed.
    private nonisolated(unsafe) static let method = unsafe EVP_MD_fetch(nil, "SHA256", nil)

    /// The digest of `bytes`.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var length: UInt32 = 0
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: Self.length) { buffer, count in
            let done = unsafe EVP_Digest(bytes, bytes.count, buffer.baseAddress, &length, method, nil)
            // No failure is thrown, because no caller can cause one: without SHA-256 libcrypto is of no use.
            precondition(done == 1 && length == Self.length, "libcrypto has no SHA-256")
            count = Self.length
        }
        return digest
    }
}
