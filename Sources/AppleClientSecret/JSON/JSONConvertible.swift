/// A value that JSON can hold.
package protocol JSONConvertible {
    var jsonText: JSONText { get }
    init(jsonValue: JSONValue) throws(JSONError)
}

/// A value that JSON holds as a string.
package protocol JSONString: JSONConvertible {
    var jsonString: String { get }
    /// The value written in `text`; nil when that is none.
    init?(jsonString text: String)
    /// The expected form of `text`, used in an error message.
    static var expected: String { get }
}

/// A value that JSON holds as a whole number.
package protocol JSONInteger: JSONConvertible, FixedWidthInteger {}

extension JSONValue {
    /// The error for a value that should be `what`.
    package func unexpected(_ what: String) -> JSONError {
        .unexpected("expected \(what)\(self == .null ? ", found null" : "")")
    }
}

// MARK: Strings

extension JSONString {
    package var jsonText: JSONText { .string(jsonString) }

    package static var expected: String { "a value that this version knows" }

    package init(jsonValue: JSONValue) throws(JSONError) {
        guard let text = jsonValue.text else { throw jsonValue.unexpected("a string") }
        guard let value = Self(jsonString: text) else { throw .unexpected("expected \(Self.expected)") }
        self = value
    }
}

extension JSONString where Self: RawRepresentable<String> {
    package var jsonString: String { rawValue }

    package init?(jsonString text: String) { self.init(rawValue: text) }
}

extension JSONString where Self: CustomStringConvertible {
    package var jsonString: String { description }
}

extension JSONString where Self: LosslessStringConvertible {
    package init?(jsonString text: String) { self.init(text) }
}

extension String: JSONString {
    package var jsonString: String { self }

    package init?(jsonString text: String) { self = text }
}

extension ClientID: JSONString {}
extension TeamID: JSONString {}
extension KeyID: JSONString {}
extension Fingerprint: JSONString {}

extension WallTime: JSONString {
    package var jsonString: String { description }

    package init?(jsonString text: String) { self.init(rfc3339: text) }

    package static var expected: String { "a time such as 2026-11-21T04:31:00Z" }
}

/// Bytes that JSON holds in base64.
package struct Base64Bytes: JSONString, Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var jsonString: String { Base64.encode(bytes) }

    package init?(jsonString text: String) {
        guard let bytes = Base64.decode(text) else { return nil }
        self.bytes = bytes
    }

    package static var expected: String { "base64" }
}

// MARK: Numbers

extension JSONInteger {
    package var jsonText: JSONText { .number(Int(clamping: self)) }

    package init(jsonValue: JSONValue) throws(JSONError) {
        guard let number = jsonValue.whole.flatMap({ Self(exactly: $0) }) else {
            throw jsonValue.unexpected("a whole number")
        }
        self = number
    }
}

extension Int: JSONInteger {}
extension Int32: JSONInteger {}
extension Int64: JSONInteger {}
extension UInt16: JSONInteger {}
extension UInt32: JSONInteger {}

/// A moment that JSON holds as whole seconds since the epoch.
package struct UnixTime: JSONConvertible, Hashable, Sendable {
    package let moment: WallTime

    package init(_ moment: WallTime) {
        self.moment = moment
    }

    package var jsonText: JSONText { moment.secondsSinceEpoch.jsonText }

    package init(jsonValue: JSONValue) throws(JSONError) {
        moment = WallTime(secondsSinceEpoch: try Int64(jsonValue: jsonValue))
    }
}

extension Bool: JSONConvertible {
    package var jsonText: JSONText { .bool(self) }

    package init(jsonValue: JSONValue) throws(JSONError) {
        guard case .bool(let value) = jsonValue else { throw jsonValue.unexpected("true or false") }
        self = value
    }
}

// MARK: Collections

extension Array: JSONConvertible where Element: JSONConvertible {
    package var jsonText: JSONText { .array(map(\.jsonText)) }

    package init(jsonValue: JSONValue) throws(JSONError) {
        guard let elements = jsonValue.elements else { throw jsonValue.unexpected("a list") }
        self = []
        reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            do throws(JSONError) {
                append(try Element(jsonValue: element))
            } catch {
                throw error.below("[\(index)]")
            }
        }
    }
}

/// A list in order, in which nothing is twice.
extension Set: JSONConvertible where Element: JSONConvertible & Comparable {
    package var jsonText: JSONText { sorted().jsonText }

    package init(jsonValue: JSONValue) throws(JSONError) {
        self.init(try [Element](jsonValue: jsonValue))
    }
}

/// An object whose members are named after the keys, in their order.
extension Dictionary: JSONConvertible where Key: JSONString, Value: JSONConvertible {
    package var jsonText: JSONText {
        .object(map { ($0.key.jsonString, $0.value.jsonText) }.sorted { $0.0 < $1.0 })
    }

    package init(jsonValue: JSONValue) throws(JSONError) {
        guard case .object(let members) = jsonValue else { throw jsonValue.unexpected("an object") }
        self = [:]
        for (name, value) in members {
            guard let key = Key(jsonString: name) else { throw .unexpected("expected \(Key.expected)", at: name) }
            do throws(JSONError) {
                self[key] = try Value(jsonValue: value)
            } catch {
                throw error.below(name)
            }
        }
    }
}
