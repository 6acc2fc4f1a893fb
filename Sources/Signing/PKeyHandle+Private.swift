internal import CLibcrypto
internal import Rotation

extension PKeyHandle {
    /// The private key that a PrivateKeyInfo holds. Its scalar goes from secure memory to secure memory only: libcrypto's
    /// own decoders leave copies of it in ordinary memory.
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
        guard let builder = unsafe OSSL_PARAM_BLD_new() else { return nil }
        defer { unsafe OSSL_PARAM_BLD_free(builder) }
        guard unsafe OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, ObjectName.p256, 0) == 1,
            unsafe OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, scalar.raw) == 1
        else { return nil }
        // The builder only remembers where the point lies: it has to stay there until the parameters are made.
        let parameters = unsafe point.withUnsafeBytes { bytes -> UnsafeMutablePointer<OSSL_PARAM>? in
            guard
                unsafe OSSL_PARAM_BLD_push_octet_string(
                    builder, OSSL_PKEY_PARAM_PUB_KEY, bytes.baseAddress, bytes.count) == 1
            else { return nil }
            return unsafe OSSL_PARAM_BLD_to_param(builder)
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
