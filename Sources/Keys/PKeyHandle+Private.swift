internal import CLibcrypto
internal import Failures
internal import Rotation

extension PKeyHandle {
    /// The private key in a PrivateKeyInfo. Its scalar is copied within secure memory only: libcrypto's own decoders
    /// leave copies of it in ordinary memory.
    init(_ der: borrowing SecureBuffer) throws(KeyFlaw) {
        defer { ERR_clear_error() }
        let info = try PrivateKeyInfo(der)
        guard let curve = P256(), let scalar = SecretNumber(der, at: info.scalar) else { throw KeyFlaw(.outOfMemory) }
        guard curve.isPrivateKey(scalar) else { throw KeyFlaw(.keyMalformed, "its number is not on the curve") }
        let point = if let stated = info.point { curve.uncompressed(stated) } else { curve.point(of: scalar) }
        guard let point else { throw KeyFlaw(.keyMalformed, "its public half is not on the curve") }
        guard let key = unsafe PKeyHandle(adopting: Self.make(scalar, point)) else { throw KeyFlaw(.outOfMemory) }
        self = key
    }

    private static func make(_ scalar: borrowing SecretNumber, _ point: [UInt8]) -> OpaquePointer? {
        let parameters = unsafe point.withUnsafeBufferPointer { bytes in
            unsafe shim_p256_parameters(scalar.raw, bytes.baseAddress, bytes.count)
        }
        guard let parameters = unsafe parameters else { return nil }
        defer { unsafe OSSL_PARAM_free(parameters) }
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_fromdata_init(context) == 1,
            unsafe EVP_PKEY_fromdata(context, &key, shim_keypair(), parameters) == 1
        else { return nil }
        return unsafe key
    }
}
