internal import AppleClientSecret
internal import CLibcrypto
internal import Failures

/// How much work it is to decrypt a key. The file's author chose that: it is checked before the work begins, so that no
/// file delays the other keys for hours.
///
/// The structures are libcrypto's own, so the values checked are the ones it acts on, even in a loose encoding.
enum WorkFactor {
    /// The most rounds of PBKDF2 (RFC 8018) or of older schemes. OpenSSL writes 2048, OWASP's Password Storage Cheat
    /// Sheet asks for 600,000; this maximum takes 4 to 7 seconds (3.0.19).
    static let maximumIterations: UInt64 = 10_000_000

    /// The most of scrypt's N · r · p (RFC 7914). OpenSSL writes 2^17, OWASP asks for 2^20; this takes 6 seconds.
    static let maximumScryptWork: UInt64 = 1 << 24

    /// The most memory for scrypt, in bytes: libcrypto refuses more (its `SCRYPT_MAX_MEM`) without saying why.
    static let maximumScryptMemory: UInt64 = 32 << 20

    /// Throws `.keyTooCostly` when the algorithm asks for more. One unknown to libcrypto passes: it cannot be opened.
    static func check(_ algorithm: UnsafePointer<X509_ALGOR>) throws(KeyError) {
        let parameter = unsafe algorithm.pointee.parameter
        guard unsafe OBJ_obj2nid(algorithm.pointee.algorithm) == NID_pbes2 else {
            return try unsafe checkOld(parameter)
        }
        guard let both = unsafe ASN1_TYPE_unpack_sequence(PBE2PARAM_it(), parameter) else { return }
        let methods = unsafe both.assumingMemoryBound(to: PBE2PARAM.self)
        defer { unsafe PBE2PARAM_free(methods) }
        let derivation = unsafe methods.pointee.keyfunc.pointee
        switch unsafe OBJ_obj2nid(derivation.algorithm) {
        case NID_id_pbkdf2: try unsafe checkPBKDF2(derivation.parameter)
        case NID_id_scrypt: try unsafe checkScrypt(derivation.parameter)
        default: return
        }
    }

    /// PBES1 (RFC 8018) and PKCS#12's schemes (RFC 7292).
    private static func checkOld(_ parameter: UnsafePointer<ASN1_TYPE>?) throws(KeyError) {
        guard let sequence = unsafe ASN1_TYPE_unpack_sequence(PBEPARAM_it(), parameter) else { return }
        let parameters = unsafe sequence.assumingMemoryBound(to: PBEPARAM.self)
        defer { unsafe PBEPARAM_free(parameters) }
        try check(iterations: try unsafe number(parameters.pointee.iter))
    }

    private static func checkPBKDF2(_ parameter: UnsafePointer<ASN1_TYPE>?) throws(KeyError) {
        guard let sequence = unsafe ASN1_TYPE_unpack_sequence(PBKDF2PARAM_it(), parameter) else { return }
        let parameters = unsafe sequence.assumingMemoryBound(to: PBKDF2PARAM.self)
        defer { unsafe PBKDF2PARAM_free(parameters) }
        try check(iterations: try unsafe number(parameters.pointee.iter))
    }

    private static func checkScrypt(_ parameter: UnsafePointer<ASN1_TYPE>?) throws(KeyError) {
        guard let sequence = unsafe ASN1_TYPE_unpack_sequence(SCRYPT_PARAMS_it(), parameter) else { return }
        let parameters = unsafe sequence.assumingMemoryBound(to: SCRYPT_PARAMS.self)
        defer { unsafe SCRYPT_PARAMS_free(parameters) }
        try check(
            n: try unsafe number(parameters.pointee.costParameter),
            r: try unsafe number(parameters.pointee.blockSize),
            p: try unsafe number(parameters.pointee.parallelizationParameter))
    }

    private static func check(iterations: UInt64) throws(KeyError) {
        guard iterations > maximumIterations else { return }
        throw KeyError(.keyTooCostly, "\(iterations) iterations; the limit is \(maximumIterations)")
    }

    private static func check(n: UInt64, r: UInt64, p: UInt64) throws(KeyError) {
        let asked = "scrypt with N \(n), r \(r) and p \(p)"
        // The sum that libcrypto limits: p working blocks and N + 2 stored ones, of 128 · r bytes each.
        guard max(n, r, p) <= maximumScryptMemory, 128 * r * (n + 2 + p) <= maximumScryptMemory else {
            // The openssl program refuses such a file as well.
            throw KeyError(
                .keyTooCostly,
                "\(asked), which takes more memory than OpenSSL's \(maximumScryptMemory >> 20) MiB",
                remedy: .say("encrypt it again, for example with N 16384, r 8 and p 1"))
        }
        guard n * r * p <= maximumScryptWork else {
            throw KeyError(.keyTooCostly, "\(asked); the limit for N · r · p is \(maximumScryptWork)")
        }
    }

    /// Throws `.keyMalformed` when the number is negative or longer than 64 bits.
    private static func number(_ integer: UnsafePointer<ASN1_INTEGER>?) throws(KeyError) -> UInt64 {
        var number: UInt64 = 0
        guard unsafe ASN1_INTEGER_get_uint64(&number, integer) == 1 else { throw KeyError(.keyMalformed) }
        return number
    }
}
