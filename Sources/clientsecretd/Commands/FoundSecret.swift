import AppleClientSecret
import Formats
import FoundationEssentials

/// Finds the secret in what a file holds.
enum FoundSecret {
    /// The token's bytes: the variable's value, `client_secret` of a JSON object, or the whole content without the
    /// blanks around it.
    static func token(in bytes: [UInt8], of name: String, variable: String?) throws(CommandFailure) -> [UInt8] {
        guard let variable else {
            let text = trimmed(bytes)
            guard text.first == UInt8(ascii: "{") else { return text }
            guard let document = try? JSONDecoder().decode(Document.self, from: Data(text)) else {
                throw CommandFailure(.failed, "\(name): this is no JSON object with a \"client_secret\"")
            }
            return Array(document.secret.utf8)
        }
        let value: EnvironmentFile.Value
        do throws(FormatFlaw) {
            value = try EnvironmentFile(bytes).value(of: variable)
        } catch {
            throw CommandFailure(.failed, "\(name):\(error.line): \(error.reason)")
        }
        switch value {
        case .one(let value): return value
        case .absent: throw CommandFailure(.failed, "\(name): \(variable) is not set in it")
        case .differing: throw CommandFailure(.failed, "\(name): \(variable) is set to different values in it")
        }
    }

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return [] }
        return Array(bytes[first...last])
    }

    private struct Document: Decodable {
        let secret: String

        enum CodingKeys: String, CodingKey {
            case secret = "client_secret"
        }
    }
}

extension CompactJWS.Flaw {
    /// What is wrong, as the end of a sentence.
    var words: String {
        switch self {
        case .empty: "there is nothing in it"
        case .tooLong: "it is longer than \(Token.maximumLength) bytes"
        case .notThreeParts: "it does not consist of three parts with dots between them"
        case .notBase64URL(let part): "its \(part.rawValue) is not base64url"
        case .notJSONObject(let part): "its \(part.rawValue) is not a JSON object"
        }
    }
}
