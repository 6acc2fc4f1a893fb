/// A JSON text (RFC 8259) from a server, in a token or in the state directory.
///
/// The rules are:
/// - The text is UTF-8 without a byte-order mark, and nothing but white space follows the value.
/// - A name that occurs twice in one object is refused: two readers of one text must not see different values in it. Texts that
///   are only shown, or must be accepted, are read with the last value.
/// - Values are nested ``deepest`` levels at most. A caller that reads untrusted bytes limits the number of values: a value of
///   two bytes takes up to a hundred times as much memory.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that 64 bits hold.
    case integer(Int64)
    /// Any other number.
    case fraction(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// How many levels of arrays and objects are read.
    package static let deepest = 32

    /// The treatment of members with the same name.
    package enum Duplicates: Sendable {
        case lastCounts
        case refused
    }

    /// - Parameter limit: how many values there are at most, those in arrays and objects included.
    package init(_ bytes: [UInt8], duplicates: Duplicates = .refused, atMost limit: Int = .max) throws(JSONError) {
        var reader = JSONReader(bytes, duplicates: duplicates, room: limit)
        self = try reader.whole()
    }

    /// The range of the value at `pointer` in `bytes`, an array's elements counted from 0. Nil if there is none, or if the bytes
    /// are no JSON text.
    package static func range(of pointer: [String], in bytes: [UInt8]) -> Range<Int>? {
        var reader = JSONReader(bytes, wanted: pointer)
        guard (try? reader.whole()) != nil else { return nil }
        return reader.found
    }

    /// The member `name` of an object; nil if there is none, or if this is no object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The text; nil for any other value.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The whole number, `1.0` and `1e3` included; nil for any other value.
    package var whole: Int64? {
        switch self {
        case .integer(let number): number
        case .fraction(let number): Int64(exactly: number)
        default: nil
        }
    }

    /// The elements; nil for any other value.
    package var elements: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }
}
