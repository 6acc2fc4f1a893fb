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
