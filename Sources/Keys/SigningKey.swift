package import AppleClientSecret
internal import CLibcrypto
internal import Digest
internal import Failures
internal import Linux
package import Model

/// A private key from Apple, ready to sign. Its scalar is in the secure heap and nowhere else.
package final class SigningKey: Sendable {
    /// The public half; it verifies everything that this key signs.
    package let publicKey: PublicKey

    /// The place that failures of this key name.
    private let place: Failure.Place
    private let signer: QuietMutex<OperationHandle>

    /// Signed once when a key is loaded, to check that its halves belong together; not the form of any token.
    private static let probe = Array("clientsecretd checks that both halves of a key belong together".utf8)

    /// Reads a key from an open file, to its end: PKCS#8 in PEM on P-256, encrypted or not.
    ///
    /// - Parameters:
    ///   - descriptor: stays open; the caller closes it.
    ///   - place: the place that failures name, now and when signing fails.
    ///   - passphrase: decrypts an encrypted key; else ignored.
    package init(
        descriptor: Int32, place: Failure.Place, passphrase: borrowing Passphrase? = nil
    ) throws(Failure) {
        self.place = place
        do throws(KeyError) {
            guard PrivateKeyHeap.hasRoom else { throw PrivateKeyHeap.full }
            let key = try KeyFileReader(descriptor: descriptor).privateKey(passphrase: passphrase)
            publicKey = try PublicKey(key)
            guard let signer = OperationHandle.signing(with: key) else { throw KeyError(.outOfMemory) }
            self.signer = QuietMutex(signer)
            guard let signature = sign(Self.probe) else { throw KeyError(.signingFailed) }
            guard publicKey.verifies(signature, of: Self.probe) else {
                throw KeyError(.keyMalformed, "its public half belongs to another key")
            }
        } catch {
            throw error.failure(at: place)
        }
    }

    /// The digest that identifies this key.
    package var print: KeyDigest { publicKey.print }

    /// Mints the secret with `claims`, and verifies it with the public half before returning it.
    package func mint(_ claims: Claims) throws(Failure) -> Secret {
        let input = claims.signingInput
        guard let signature = sign(input) else { throw Failure(.signingFailed, at: place) }
        guard publicKey.verifies(signature, of: input) else { throw Failure(.selfCheckFailed, at: place) }
        let token = Token(input + [UInt8(ascii: ".")] + Base64URL.encode(signature))
        return Secret(token: token, issued: SecretInfo(token.name, claims: claims, signer: print))
    }

    private func sign(_ message: [UInt8]) -> [UInt8]? {
        let digest = SHA256.digest(message)
        return signer.withLock { $0.sign(digest: digest) }?.withLowS.raw
    }
}

extension PKeyHandle {
    /// The private key in a PrivateKeyInfo. Its scalar is copied within secure memory only: libcrypto's own decoders
    /// leave copies of it in ordinary memory.
    init(_ der: borrowing SecureBuffer) throws(KeyError) {
        defer { ERR_clear_error() }
        let info = try PrivateKeyInfo(der)
        guard let curve = P256(), let scalar = SecretNumber(der, at: info.scalar) else { throw KeyError(.outOfMemory) }
        guard curve.isPrivateKey(scalar) else { throw KeyError(.keyMalformed, "its number is not on the curve") }
        let point = if let stated = info.point { curve.uncompressed(stated) } else { curve.point(of: scalar) }
        guard let point else { throw KeyError(.keyMalformed, "its public half is not on the curve") }
        guard let key = unsafe PKeyHandle(adopting: Self.make(scalar, point)) else { throw KeyError(.outOfMemory) }
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

/// libcrypto's curve P-256, needed only while a key is being loaded.
@safe struct P256: ~Copyable {
    private let group: OpaquePointer

    /// In bytes, uncompressed: a prefix byte and two coordinates of 32 bytes (SEC 1, section 2.3.3).
    static let pointLength = 65

    init?() {
        guard let group = unsafe EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
        unsafe self.group = unsafe group
    }

    deinit {
        unsafe EC_GROUP_free(group)
    }

    /// Whether `scalar` is a private key: from 1 to the group's order less one.
    func isPrivateKey(_ scalar: borrowing SecretNumber) -> Bool {
        unsafe BN_is_zero(scalar.raw) == 0 && BN_cmp(scalar.raw, EC_GROUP_get0_order(group)) < 0
    }

    /// The uncompressed form of a point in any form; nil when it is not on the curve, or the point at infinity.
    func uncompressed(_ point: [UInt8]) -> [UInt8]? {
        guard let decoded = unsafe EC_POINT_new(group) else { return nil }
        defer { unsafe EC_POINT_free(decoded) }
        guard unsafe EC_POINT_oct2point(group, decoded, point, point.count, nil) == 1 else { return nil }
        return unsafe encode(decoded)
    }

    /// The public point of a private key whose file does not have it.
    func point(of scalar: borrowing SecretNumber) -> [UInt8]? {
        guard let point = unsafe EC_POINT_new(group) else { return nil }
        defer { unsafe EC_POINT_free(point) }
        let done = unsafe EC_POINT_mul(group, point, scalar.raw, nil, nil, nil)
        guard done == 1 else { return nil }
        return unsafe encode(point)
    }

    private func encode(_ point: OpaquePointer) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Self.pointLength)
        let length = unsafe EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil)
        return length == Self.pointLength ? bytes : nil
    }
}

/// A BIGNUM in secure memory.
@safe struct SecretNumber: ~Copyable {
    let raw: OpaquePointer

    /// The big-endian number at `range` of `bytes`; nil when the secure heap has no room for it.
    init?(_ bytes: borrowing SecureBuffer, at range: Range<Int>) {
        guard let raw = unsafe BN_secure_new() else { return nil }
        let read = unsafe bytes.withUnsafeBytes(range) { buffer in
            unsafe BN_bin2bn(buffer.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(buffer.count), raw) != nil
        }
        guard read else {
            unsafe BN_clear_free(raw)
            return nil
        }
        unsafe BN_set_flags(raw, BN_FLG_CONSTTIME)
        unsafe self.raw = unsafe raw
    }

    deinit {
        unsafe BN_clear_free(raw)
    }
}
