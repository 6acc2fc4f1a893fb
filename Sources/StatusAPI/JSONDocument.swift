import AppleClientSecret
import FoundationEssentials
import Rotation

extension KeyedDecodingContainer {
    /// The moment under `key`, written in UTC as in RFC 3339.
    func moment(_ key: Key) throws -> WallTime {
        guard let moment = WallTime(rfc3339: try decode(String.self, forKey: key)) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "expected a time such as 2026-11-21T04:31:00Z")
        }
        return moment
    }

    /// The same; nil when it is null or absent.
    func momentIfPresent(_ key: Key) throws -> WallTime? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        return try moment(key)
    }
}

/// Decodes a JSON text that the daemon sent.
func decoded<Value: Decodable>(_ json: [UInt8], as type: Value.Type = Value.self) throws(ClientError) -> Value {
    do {
        return try JSONDecoder().decode(type, from: Data(json))
    } catch let error as DecodingError {
        throw .malformed(what: error.words)
    } catch {
        throw .malformed(what: "it is not JSON")
    }
}

extension DecodingError {
    /// What is wrong and where, in one line: `'clients[0]': 'name' is missing`.
    var words: String {
        let (context, what) =
            switch self {
            case .keyNotFound(let key, let context): (context, "'\(key.stringValue)' is missing")
            case .typeMismatch(let type, let context): (context, "expected \(Self.name(of: type))")
            case .valueNotFound(let type, let context): (context, "expected \(Self.name(of: type)), found null")
            case .dataCorrupted(let context) where context.codingPath.isEmpty: (context, "it is not JSON")
            case .dataCorrupted(let context): (context, context.debugDescription)
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), "it cannot be read")
            }
        var path = ""
        for key in context.codingPath {
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
        // The sender chose the member names, which may hold a secret or control characters.
        return path.isEmpty ? what : "'\(Redaction.plain(path))': \(what)"
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is Bool.Type: "true or false"
        case is Int.Type, is Int64.Type: "a whole number"
        case is String.Type: "a string"
        default: "\(type)".hasPrefix("Array") ? "a list" : "an object"
        }
    }
}
