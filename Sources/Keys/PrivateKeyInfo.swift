internal import Failures
internal import Model

/// The parts of a P-256 key within a PKCS#8 PrivateKeyInfo (RFC 5208; RFC 5958), or of one by itself (SEC 1; RFC 5915).
struct PrivateKeyInfo {
    /// The range of the private scalar: big-endian, 1 to 32 bytes.
    let scalar: Range<Int>

    /// The public point, which a key may leave out; not secret.
    let point: [UInt8]?

    private static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    private static let p256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    /// 1.2.840.113549.1.1: the algorithms of RSA (RFC 8017).
    private static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01]
    /// The other algorithms of keys: 1.3.101 (X25519, X448, Ed25519 and Ed448, RFC 8410), DSA (RFC 3279), and Diffie-Hellman by
    /// PKCS#3 and by X9.42. Any other object identifier is more likely damaged.
    private static let notEC: [[UInt8]] = [
        [0x2B, 0x65], [0x2A, 0x86, 0x48, 0xCE, 0x38, 0x04, 0x01],
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x03, 0x01], [0x2A, 0x86, 0x48, 0xCE, 0x3E, 0x02, 0x01],
    ]

    init(_ der: borrowing SecureBuffer) throws(KeyError) {
        var outer = DERReader(0..<der.count)
        guard let content = outer.take(DERReader.Tag.sequence, in: der) else {
            throw Self.isCut(der) ? KeyError(.keyTruncated) : KeyError(.keyMalformed)
        }
        guard outer.isAtEnd else { throw KeyError(.keyMalformed, "bytes follow the key") }
        var info = DERReader(content)
        // Another structure, perhaps with a private key's label. An ECPrivateKey follows below.
        if let first = info.take(DERReader.Tag.sequence, in: der) {
            throw Self.keyError(ofOther: first, before: info.nextTag(in: der), in: der)
        }
        guard let version = info.takeSmallInteger(in: der), version <= 1 else { throw KeyError(.keyMalformed) }
        // An RSAPrivateKey (RFC 8017) has eight numbers, and OpenSSL's DSAPrivateKey five.
        if info.nextTag(in: der) == DERReader.Tag.integer {
            var numbers = 0
            while info.take(DERReader.Tag.integer, in: der) != nil { numbers += 1 }
            throw numbers == 5 && info.isAtEnd ? Self.dsaKey : KeyError(.keyIsRSA)
        }
        if info.nextTag(in: der) == DERReader.Tag.octetString {
            let key = try Self.ecPrivateKey(0..<der.count, in: der)
            guard key.namesCurve else { throw KeyError(.keyMalformed, "it does not say on which curve it is") }
            (scalar, point) = (key.scalar, key.point)
            return
        }
        guard let algorithm = info.take(DERReader.Tag.sequence, in: der) else { throw KeyError(.keyMalformed) }
        try Self.check(algorithm: algorithm, in: der)
        guard let inner = info.take(DERReader.Tag.octetString, in: der) else { throw KeyError(.keyMalformed) }
        // Attributes and, in version 1, the public key once more: both are unused.
        if info.nextTag(in: der) == DERReader.Tag.context0 { _ = info.take(DERReader.Tag.context0, in: der) }
        if version == 1, info.nextTag(in: der) == DERReader.Tag.primitiveContext1 {
            _ = info.take(DERReader.Tag.primitiveContext1, in: der)
        }
        guard info.isAtEnd else { throw KeyError(.keyMalformed) }
        let key = try Self.ecPrivateKey(inner, in: der)
        (scalar, point) = (key.scalar, key.point)
    }

    /// libcrypto's own curve is used, and parameters in a file may differ from it in one number.
    static let unnamedCurve = KeyError(
        .keyMalformed, "it has its curve's parameters instead of the curve's name",
        remedy: .say("write it again with the name, by openssl pkey -ec_param_enc named_curve"))

    static let dsaKey = KeyError(.keyNotEC, "DSA")

    static let certificateRequest = KeyError(.keyMalformed, "it is a certificate request")

    /// The error for a structure that begins with this one, and whose next element has this tag.
    private static func keyError(
        ofOther first: Range<Int>, before tag: UInt8?, in der: borrowing SecureBuffer
    ) -> KeyError {
        switch tag {
        // A SubjectPublicKeyInfo.
        case DERReader.Tag.bitString: return KeyError(.keyIsPublic)
        case DERReader.Tag.octetString:
            return KeyError(.keyMalformed, "it is encrypted, and its BEGIN line does not say so")
        case DERReader.Tag.sequence:
            // A signed structure is a certificate (RFC 5280) or a request for one (RFC 2986). The latter has only its version,
            // its name and its public key before its attributes.
            var signed = DERReader(first)
            guard signed.takeSmallInteger(in: der) == 0, signed.take(DERReader.Tag.sequence, in: der) != nil,
                signed.take(DERReader.Tag.sequence, in: der) != nil,
                signed.nextTag(in: der) == DERReader.Tag.context0 || signed.isAtEnd
            else { return KeyError(.keyIsCertificate) }
            return certificateRequest
        default: return KeyError(.keyMalformed)
        }
    }

    /// An error that names the kind of key, if it is known and Apple issues no such keys; nil otherwise.
    static func otherKind(_ der: borrowing SecureBuffer) -> KeyError? {
        do throws(KeyError) {
            _ = try PrivateKeyInfo(der)
            return nil
        } catch {
            let isNamed = [.keyIsRSA, .keyNotEC, .keyWrongCurve, .keyIsPublic, .keyIsCertificate].contains(error.code)
            return isNamed || [certificateRequest, unnamedCurve].contains(error) ? error : nil
        }
    }

    /// Whether it is a key by itself, and not one in a PrivateKeyInfo.
    static func isSEC1(_ der: borrowing SecureBuffer) -> Bool {
        var outer = DERReader(0..<der.count)
        guard let content = outer.take(DERReader.Tag.sequence, in: der) else { return false }
        var key = DERReader(content)
        return key.takeSmallInteger(in: der) == 1 && key.nextTag(in: der) == DERReader.Tag.octetString
    }

    /// Whether the outermost element's length exceeds the bytes there are.
    private static func isCut(_ der: borrowing SecureBuffer) -> Bool {
        guard der.count >= 4, der[0] == DERReader.Tag.sequence else { return der.count < 4 }
        return switch der[1] {
        case 0..<0x80: Int(der[1]) > der.count - 2
        case 0x81: Int(der[2]) > der.count - 3
        case 0x82: Int(der[2]) << 8 | Int(der[3]) > der.count - 4
        default: false
        }
    }

    private static func check(algorithm: Range<Int>, in der: borrowing SecureBuffer) throws(KeyError) {
        var reader = DERReader(algorithm)
        guard let identifier = reader.take(DERReader.Tag.objectIdentifier, in: der) else {
            throw KeyError(.keyMalformed)
        }
        let object = der.copy(identifier)
        if object.starts(with: rsa) { throw KeyError(.keyIsRSA) }
        let name = ObjectName.short(ofIdentifier: object)
        if notEC.contains(where: { object.starts(with: $0) }) { throw KeyError(.keyNotEC, name) }
        guard object == ecPublicKey else { throw KeyError(.keyMalformed, name.map { "its algorithm is \($0)" }) }
        try checkCurve(&reader, in: der)
    }

    /// The last element must name P-256.
    private static func checkCurve(_ reader: inout DERReader, in der: borrowing SecureBuffer) throws(KeyError) {
        if reader.nextTag(in: der) == DERReader.Tag.sequence { throw unnamedCurve }
        guard let curve = reader.take(DERReader.Tag.objectIdentifier, in: der), reader.isAtEnd else {
            throw KeyError(.keyMalformed)
        }
        let object = der.copy(curve)
        guard object == p256 else { throw KeyError(.keyWrongCurve, ObjectName.short(ofIdentifier: object)) }
    }

    private static func ecPrivateKey(
        _ range: Range<Int>, in der: borrowing SecureBuffer
    ) throws(KeyError) -> (scalar: Range<Int>, point: [UInt8]?, namesCurve: Bool) {
        var outer = DERReader(range)
        guard let content = outer.take(DERReader.Tag.sequence, in: der), outer.isAtEnd else {
            throw KeyError(.keyMalformed)
        }
        var key = DERReader(content)
        guard key.takeSmallInteger(in: der) == 1, let scalar = key.take(DERReader.Tag.octetString, in: der) else {
            throw KeyError(.keyMalformed)
        }
        var namesCurve = false
        if let parameters = key.take(DERReader.Tag.context0, in: der) {
            namesCurve = true
            var reader = DERReader(parameters)
            try checkCurve(&reader, in: der)
        }
        guard (1...32).contains(scalar.count) else { throw KeyError(.keyMalformed) }
        var point: [UInt8]?
        if let explicit = key.take(DERReader.Tag.context1, in: der) {
            var reader = DERReader(explicit)
            // A BIT STRING begins with the number of its unused bits.
            guard let bits = reader.take(DERReader.Tag.bitString, in: der), reader.isAtEnd, bits.count > 1,
                der[bits.lowerBound] == 0
            else { throw KeyError(.keyMalformed) }
            point = der.copy(bits.dropFirst())
        }
        guard key.isAtEnd else { throw KeyError(.keyMalformed) }
        return (scalar, point, namesCurve)
    }
}

extension SecureBuffer {
    /// A copy in ordinary memory: for bytes that are not secret.
    fileprivate func copy(_ range: Range<Int>) -> [UInt8] {
        range.map { self[$0] }
    }
}
