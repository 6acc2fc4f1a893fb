internal import AppleClientSecret

/// HMAC (RFC 2104) with SHA-256.
package enum HMAC {
    /// The code of a message, in hexadecimal.
    package static func hexadecimal(_ message: [UInt8], key: [UInt8]) -> String {
        var block = key.count > 64 ? SHA256.digest(key) : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        return Hex.encode(SHA256.digest(block.map { $0 ^ 0x5C } + SHA256.digest(block.map { $0 ^ 0x36 } + message)))
    }
}
