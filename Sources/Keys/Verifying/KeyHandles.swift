internal import AppleClientSecret
internal import CLibcrypto

/// An EVP_PKEY: a key as libcrypto holds it.
@safe struct PKeyHandle: ~Copyable {
    let raw: OpaquePointer

    /// Takes over a reference; nil for nil.
    init?(adopting raw: OpaquePointer?) {
        guard let raw = unsafe raw else { return nil }
        unsafe self.raw = unsafe raw
    }

    deinit {
        unsafe EVP_PKEY_free(raw)
    }
}

/// An EVP_PKEY_CTX for one operation with one key, kept because creating it costs more than the operation. It may pass
/// from one thread to another as long as no two use it at a time.
@safe struct OperationHandle: ~Copyable, @unchecked Sendable {
    private let raw: OpaquePointer

    private init(adopting raw: OpaquePointer) {
        unsafe self.raw = unsafe raw
    }

    /// Nil when libcrypto has no memory left.
    static func signing(with key: borrowing PKeyHandle) -> OperationHandle? {
        guard let raw = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.raw, nil) else { return nil }
        let handle = unsafe OperationHandle(adopting: raw)
        guard unsafe EVP_PKEY_sign_init(raw) == 1 else { return nil }
        return handle
    }

    /// Nil when libcrypto has no memory left.
    static func verifying(with key: borrowing PKeyHandle) -> OperationHandle? {
        guard let raw = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.raw, nil) else { return nil }
        let handle = unsafe OperationHandle(adopting: raw)
        guard unsafe EVP_PKEY_verify_init(raw) == 1 else { return nil }
        return handle
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(raw)
    }

    /// The signature of `digest`; nil when libcrypto cannot make one.
    mutating func sign(digest: [UInt8]) -> ECDSASignature? {
        var length = ECDSASignature.maximumDERLength
        var done: Int32 = 0
        let der = unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            unsafe done = EVP_PKEY_sign(raw, buffer.baseAddress, &length, digest, digest.count)
            count = done == 1 ? length : 0
        }
        guard done == 1 else {
            ERR_clear_error()
            return nil
        }
        return ECDSASignature(der: der)
    }

    /// Whether `signature` is this key's signature of `digest`.
    mutating func verify(_ signature: ECDSASignature, digest: [UInt8]) -> Bool {
        let der = signature.der
        let verdict = unsafe EVP_PKEY_verify(raw, der, der.count, digest, digest.count)
        ERR_clear_error()
        return verdict == 1
    }
}
