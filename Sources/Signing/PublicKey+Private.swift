extension PublicKey {
    /// The public point, at the end of a ``spki``, that a private key of these 64 hexadecimal digits has; nil for other text
    /// and numbers.
    package static func point(ofPrivateKey digits: [UInt8]) -> [UInt8]? {
        let length = 32
        let values = digits.lazy.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 2 * length, values.count == digits.count, var number = SecureBuffer(capacity: length)
        else { return nil }
        var high: UInt8?
        for value in values {
            if let upper = high {
                number.append(upper << 4 | UInt8(value))
                high = nil
            } else {
                high = UInt8(value)
            }
        }
        guard let curve = P256(), let scalar = SecretNumber(number, at: 0..<length), curve.isPrivateKey(scalar) else {
            return nil
        }
        return curve.point(of: scalar)
    }
}
