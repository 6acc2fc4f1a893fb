package import AppleClientSecret
import Failures
import FoundationEssentials
import Model

/// A JSON object of the API. Its members are listed once, and that list both writes and reads them.
package protocol JSONDocument: JSONValue {
    /// Lists the members in the order in which they are written.
    ///
    /// - Parameter document: what is written; nil when one is read. Writing throws nothing.
    init(_ document: Self?, _ members: inout JSONMembers) throws
}

/// A value that JSON can hold.
package protocol JSONValue {
    var jsonValue: JSONText { get }
    init(jsonFrom decoder: any Decoder) throws
}

/// The members of one object while they are written or read.
package struct JSONMembers {
    fileprivate struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }

    /// Lets the decoder decode what is not `Decodable`.
    fileprivate struct Decoded<Wrapped: JSONValue>: Decodable {
        let wrapped: Wrapped

        init(from decoder: any Decoder) throws {
            wrapped = try Wrapped(jsonFrom: decoder)
        }
    }

    fileprivate var written: [(name: String, value: JSONText)] = []
    /// The object that is read; nil while one is written.
    private let object: KeyedDecodingContainer<Name>?

    fileprivate init() {
        object = nil
    }

    fileprivate init(of decoder: any Decoder) throws {
        object = try decoder.container(keyedBy: Name.self)
    }

    /// A member that every document has.
    mutating func callAsFunction<Value: JSONValue>(_ name: String, _ value: Value?) throws -> Value {
        if let object { return try object.decode(Decoded<Value>.self, forKey: Name(stringValue: name)).wrapped }
        guard let value else {
            throw DecodingError.keyNotFound(Name(stringValue: name), .init(codingPath: [], debugDescription: ""))
        }
        written.append((name, value.jsonValue))
        return value
    }

    /// A member that is null where there is no value; one that is read may also be absent.
    mutating func orNull<Value: JSONValue>(_ name: String, _ value: Value?) throws -> Value? {
        if object == nil, value == nil { written.append((name, .null)) }
        return try orAbsent(name, value)
    }

    /// A member that is left out where there is no value; one that is read may also be null.
    mutating func orAbsent<Value: JSONValue>(_ name: String, _ value: Value?) throws -> Value? {
        if let object {
            return try object.decodeIfPresent(Decoded<Value>.self, forKey: Name(stringValue: name))?.wrapped
        }
        if let value { written.append((name, value.jsonValue)) }
        return value
    }

    /// A member that is only written, because it follows from the others.
    mutating func derived(_ name: String, _ value: @autoclosure () -> some JSONValue) {
        if object == nil { written.append((name, value().jsonValue)) }
    }

    /// Refuses an object that is read and has a member of another name.
    func refuseOthers(than names: [String]) throws {
        guard let object else { return }
        // `allKeys` is in no order: of several unknown members, the same one is always named.
        let unknown = object.allKeys.filter { !names.contains($0.stringValue) }
        if let name = unknown.min(by: { $0.stringValue < $1.stringValue }) {
            throw DecodingError.dataCorruptedError(
                forKey: name, in: object,
                debugDescription: "there is no such member; there are \(names.joined(separator: ", "))")
        }
    }
}

extension JSONDocument {
    package var jsonValue: JSONText {
        var members = JSONMembers()
        do {
            _ = try Self(self, &members)
        } catch {
            // Every member has its value; a document that ends at the one that has none would go unnoticed.
            assertionFailure("\(Self.self) cannot be written: \(error)")
        }
        return .object(members.written)
    }

    package init(jsonFrom decoder: any Decoder) throws {
        var members = try JSONMembers(of: decoder)
        try self.init(nil, &members)
    }

    /// The document on one line, without a line break at its end.
    package var json: String { jsonValue.rendered }

    /// Reads a document that a client sent.
    init(parsing json: [UInt8]) throws {
        self = try JSONDecoder().decode(JSONMembers.Decoded<Self>.self, from: Data(json)).wrapped
    }

    /// Reads a document that the daemon sent.
    package init(json: [UInt8]) throws(ClientError) {
        do {
            try self.init(parsing: json)
        } catch let error as DecodingError {
            throw .malformed(what: error.words)
        } catch {
            throw .malformed(what: "it is not JSON")
        }
    }
}

// MARK: Values

extension Bool: JSONValue {
    package var jsonValue: JSONText { .bool(self) }

    package init(jsonFrom decoder: any Decoder) throws {
        self = try decoder.singleValueContainer().decode(Bool.self)
    }
}

extension Int: JSONValue {
    package var jsonValue: JSONText { .number(self) }

    package init(jsonFrom decoder: any Decoder) throws {
        self = try decoder.singleValueContainer().decode(Int.self)
    }
}

extension Array: JSONValue where Element: JSONValue {
    package var jsonValue: JSONText { .array(map(\.jsonValue)) }

    package init(jsonFrom decoder: any Decoder) throws {
        self = try decoder.singleValueContainer().decode([JSONMembers.Decoded<Element>].self).map(\.wrapped)
    }
}

/// A value that JSON holds as a string.
package protocol JSONString: JSONValue {
    var jsonString: String { get }
    /// The value written in `text`; nil when that is none.
    init?(jsonString text: String)
    /// What `text` should have been, for an error message.
    static var expected: String { get }
}

extension JSONString {
    package var jsonValue: JSONText { .string(jsonString) }

    package static var expected: String { "a value that this version knows" }

    package init(jsonFrom decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(jsonString: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected \(Self.expected)")
        }
        self = value
    }
}

extension String: JSONString {
    package var jsonString: String { self }

    package init?(jsonString text: String) { self = text }
}

extension WallTime: JSONString {
    package var jsonString: String { description }

    package init?(jsonString text: String) { self.init(rfc3339: text) }

    package static var expected: String { "a time such as 2026-11-21T04:31:00Z" }

    /// The moment written in `text` as ``description`` writes it, `2026-11-21T04:31:00Z` or `@` and seconds; nil for
    /// any other form and for dates that do not exist.
    package init?(rfc3339 text: String) {
        if text.hasPrefix("@") {
            guard let seconds = Int64(text.dropFirst()) else { return nil }
            self.init(secondsSinceEpoch: seconds)
        } else {
            let fields = text.split { !("0"..."9").contains($0) }.compactMap { Int64($0) }
            guard text.utf8.count == 20, fields.count == 6 else { return nil }
            // Days since the epoch by eras of 400 years that begin on the first of March, so that the leap day is the
            // last one of its year.
            let year = fields[1] <= 2 ? fields[0] - 1 : fields[0]
            let era = (year >= 0 ? year : year - 399) / 400
            let yearOfEra = year - era * 400
            let dayOfYear = (153 * (fields[1] + (fields[1] > 2 ? -3 : 9)) + 2) / 5 + fields[2] - 1
            let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
            self.init(secondsSinceEpoch: days * 86_400 + fields[3] * 3600 + fields[4] * 60 + fields[5])
        }
        guard description == text else { return nil }
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
