internal import CLibcrypto

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

    /// The public point of a private key whose file lacks it.
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
