package import AppleClientSecret
internal import CLibcrypto
internal import Digest
internal import Failures
internal import Linux
package import Model

/// The public half of a P-256 key, which verifies the private half's signatures.
package final class PublicKey: Sendable {
    /// The digest that identifies this key.
    package let print: KeyDigest

    /// The key as a DER SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7), 91 bytes.
    package let spki: [UInt8]

    /// The longest SubjectPublicKeyInfo that is decoded, in bytes: more than that of any EC key, and enough to
    /// recognise an RSA key of 16,384 bits.
    static let maximumSPKILength = 4096

    private let verifier: QuietMutex<OperationHandle>

    /// The key in this DER SubjectPublicKeyInfo; nil unless it is on P-256, given as a named curve.
    package convenience init?(spki: [UInt8]) {
        guard let key = Self.decode(spki), Self.kind(of: key) == .p256 else { return nil }
        try? self.init(key)
    }

    /// The public half of `key`, which must be on P-256.
    init(_ key: borrowing PKeyHandle) throws(KeyError) {
        guard let spki = Self.encode(key), let verifier = OperationHandle.verifying(with: key),
            let print = Self.digest(spki: spki)
        else {
            ERR_clear_error()
            throw KeyError(.outOfMemory)
        }
        self.spki = spki
        self.print = print
        self.verifier = QuietMutex(verifier)
    }

    /// The digest that identifies the key whose ``spki`` this is.
    package static func digest(spki: [UInt8]) -> KeyDigest? {
        KeyDigest(Hex.encode(SHA256.digest(spki)))
    }

    /// Whether this key's private half signed the token.
    package func verifies(_ jws: CompactJWS) -> Bool {
        jws.stated.algorithm == .value("ES256") && verifies(jws.signature, of: jws.signingInput)
    }

    /// Whether `signature`, r and s of 32 bytes each, is this key's over the SHA-256 digest of `message`.
    package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let signature = ECDSASignature(raw: signature) else { return false }
        let digest = SHA256.digest(message)
        return verifier.withLock { $0.verify(signature, digest: digest) }
    }
}

/// The kind of the key in a SubjectPublicKeyInfo.
enum KeyKind: Hashable {
    case p256
    case rsa
    /// A key of another algorithm, such as Ed25519 or DSA, with libcrypto's name of it.
    case notEC(String)
    /// An EC key with the parameters of its curve, which may be P-256, instead of the curve's name.
    case unnamedCurve
    /// An EC key on another curve, with libcrypto's name of it.
    case otherCurve(String)
    case other
}

extension PublicKey {
    /// The key in a DER SubjectPublicKeyInfo that ends with the bytes; nil when libcrypto finds none.
    static func decode(_ spki: [UInt8]) -> PKeyHandle? {
        guard spki.count <= maximumSPKILength else { return nil }
        var end = 0
        let key = unsafe spki.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var position = buffer.baseAddress
            let key = unsafe d2i_PUBKEY(nil, &position, buffer.count)
            if let start = buffer.baseAddress, let position = unsafe position {
                unsafe end = position - start
            }
            return unsafe key
        }
        ERR_clear_error()
        guard let handle = unsafe PKeyHandle(adopting: key), end == spki.count else { return nil }
        return handle
    }

    static func kind(of key: borrowing PKeyHandle) -> KeyKind {
        defer { ERR_clear_error() }
        switch unsafe EVP_PKEY_get_base_id(key.raw) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: return .rsa
        case EVP_PKEY_EC: break
        case EVP_PKEY_SM2: return .otherCurve("SM2")
        // libcrypto has no number above 0 for an algorithm that only a provider knows.
        case let id where id > 0: return ObjectName.short(of: id).map(KeyKind.notEC) ?? .other
        default: return .other
        }
        var explicit: Int32 = 0
        let known = unsafe EVP_PKEY_get_int_param(key.raw, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &explicit)
        guard known == 1, explicit == 0 else { return .unnamedCurve }
        var name = [CChar](repeating: 0, count: 80)
        guard unsafe EVP_PKEY_get_group_name(key.raw, &name, name.count, nil) == 1 else { return .other }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text == ObjectName.p256 ? .p256 : .otherCurve(text)
    }

    /// A SubjectPublicKeyInfo of P-256 up to the point: id-ecPublicKey, prime256v1, and a bit string of 65 bytes.
    private static let header: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// Written by hand: i2d_PUBKEY first collects every encoder of every provider, an eighth of the daemon's start.
    private static func encode(_ key: borrowing PKeyHandle) -> [UInt8]? {
        var point = [UInt8](repeating: 0, count: 65)
        var length = 0
        // Always the uncompressed form, also for a key in another form, because the key's digest depends on it.
        let found = unsafe EVP_PKEY_get_octet_string_param(
            key.raw, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, &point, point.count, &length)
        guard found == 1, length == point.count else { return nil }
        return header + point
    }
}
