import Foundation

/// Builds PKCS#8 texts by hand, so that each part of them can be wrong.
enum PKCS8 {
    static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    static let p256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count < 128 ? [UInt8(content.count)] : [0x81, UInt8(content.count)]
        return [tag] + length + content
    }

    static func der(
        version: UInt8 = 0, algorithm: [UInt8] = ecPublicKey, curve: [UInt8] = p256, scalar: [UInt8],
        parameters: [UInt8] = [], point: [UInt8]? = nil, trailer: [UInt8] = []
    ) -> [UInt8] {
        let publicKey = point.map { element(0xA1, element(0x03, [0] + $0)) } ?? []
        let inner = element(0x30, [2, 1, 1] + element(0x04, scalar) + parameters + publicKey)
        return element(0x30, [2, 1, version] + element(0x30, algorithm + curve) + element(0x04, inner) + trailer)
    }

    static func pem(_ der: [UInt8], label: String = "PRIVATE KEY", lineEnding: String = "\n") -> String {
        let base64 = Array(Data(der).base64EncodedString())
        let lines = stride(from: 0, to: base64.count, by: 64).map { String(base64[$0..<min($0 + 64, base64.count)]) }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----", ""]).joined(separator: lineEnding)
    }
}

/// The bytes that `hexadecimal` writes.
func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = Array(hexadecimal.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
        UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
    }
}
