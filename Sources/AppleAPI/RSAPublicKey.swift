internal import CLibcrypto

/// The public half of an RSA key, which verifies RS256 signatures (RFC 7518, section 3.3: RSASSA-PKCS1-v1_5 with SHA-256).
@safe struct RSAPublicKey: ~Copyable {
    private let key: OpaquePointer

    /// How many bits a modulus may have: fewer are weak, more only cost time. Apple's have 2,048.
    static let bits = 2_048...8_192

    /// The key with this modulus and this exponent, both big-endian; nil for an unusual length or an even exponent.
    init?(modulus: [UInt8], exponent: [UInt8]) {
        guard let n = BigNumber(modulus), let e = BigNumber(exponent), Self.bits.contains(n.bits), n.isOdd, e.isOdd,
            (2...64).contains(e.bits), let parameters = unsafe shim_rsa_parameters(n.raw, e.raw)
        else { return nil }
        defer { unsafe OSSL_PARAM_free(parameters) }
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else { return nil }
        defer {
            unsafe EVP_PKEY_CTX_free(context)
            ERR_clear_error()
        }
        var made: OpaquePointer?
        guard unsafe EVP_PKEY_fromdata_init(context) == 1,
            unsafe EVP_PKEY_fromdata(context, &made, shim_public_key(), parameters) == 1, let made = unsafe made
        else { return nil }
        unsafe key = unsafe made
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    /// Whether the private half has signed `message`.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer {
            unsafe EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        guard unsafe EVP_DigestVerifyInit_ex(context, nil, "SHA256", nil, nil, key, nil) == 1 else { return false }
        return unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}

/// A positive number of any size.
@safe private struct BigNumber: ~Copyable {
    let raw: OpaquePointer

    /// In bytes: more than any key that is used.
    private static let longest = 2_048

    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.longest, let raw = unsafe BN_bin2bn(bytes, Int32(bytes.count), nil) else {
            return nil
        }
        unsafe self.raw = unsafe raw
    }

    deinit {
        unsafe BN_free(raw)
    }

    var bits: Int { Int(unsafe BN_num_bits(raw)) }
    var isOdd: Bool { unsafe BN_is_odd(raw) == 1 }
}
