internal import CLibcrypto

/// libcrypto's names of ASN.1 objects.
enum ObjectName {
    /// libcrypto's name of P-256 (X9.62); NIST's is P-256, SECG's secp256r1.
    static let p256 = "prime256v1"

    /// The longest name of an object identifier, in bytes with the closing NUL. The longest that libcrypto knows has 41; an
    /// unknown one becomes digits that the file's author chose.
    private static let room = 80

    /// The short name of an object that libcrypto has a number for.
    static func short(of nid: Int32) -> String? {
        guard let name = unsafe OBJ_nid2sn(nid) else { return nil }
        return unsafe String(cString: name)
    }

    /// The short name of the object identifier with these content bytes, or its numbers with dots when libcrypto does not know
    /// it. Nil when it is malformed.
    static func short(ofIdentifier content: [UInt8]) -> String? {
        defer { ERR_clear_error() }
        guard content.count <= 32 else { return nil }
        let der = [0x06, UInt8(content.count)] + content
        let object = unsafe der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return unsafe d2i_ASN1_OBJECT(nil, &position, buffer.count)
        }
        guard let object = unsafe object else { return nil }
        defer { unsafe ASN1_OBJECT_free(object) }
        let nid = unsafe OBJ_obj2nid(object)
        if nid != NID_undef { return short(of: nid) }
        var text = [CChar](repeating: 0, count: room)
        guard unsafe OBJ_obj2txt(&text, Int32(room), object, 1) > 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
