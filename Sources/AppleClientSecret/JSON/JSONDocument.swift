/// A JSON object whose members are listed once; that list both writes and reads them.
package protocol JSONDocument: JSONConvertible {
    /// Lists the members in the order in which they are written.
    ///
    /// - Parameter document: the document to write; nil when one is read. Writing throws nothing.
    init(_ document: Self?, _ members: inout JSONMembers) throws(JSONError)
}

extension JSONDocument {
    package var jsonText: JSONText {
        var members = JSONMembers()
        do throws(JSONError) {
            _ = try Self(self, &members)
        } catch {
            // Every member has its value; a document that ends at the one that has none would go unnoticed.
            assertionFailure("\(Self.self) cannot be written: \(error)")
        }
        return .object(members.written)
    }

    package init(jsonValue: JSONValue) throws(JSONError) {
        guard case .object(let object) = jsonValue else { throw jsonValue.unexpected("an object") }
        var members = JSONMembers(of: object)
        try self.init(nil, &members)
    }

    /// The document on one line, without a line break at its end.
    package var json: String { jsonText.rendered }

    /// Reads a document in which no name occurs twice.
    ///
    /// - Parameter limit: how many values there are at most.
    package init(parsing json: [UInt8], atMost limit: Int = .max) throws(JSONError) {
        try self.init(jsonValue: try JSONValue(json, atMost: limit))
    }
}

/// The members of one object while they are written or read.
package struct JSONMembers {
    fileprivate var written: [(name: String, value: JSONText)] = []
    /// The object that is read; nil while one is written.
    private let object: [String: JSONValue]?

    init(of object: [String: JSONValue]? = nil) {
        self.object = object
    }

    /// A member that every document has.
    package mutating func callAsFunction<Value: JSONConvertible>(
        _ name: String, _ value: Value?
    ) throws(JSONError) -> Value {
        if let object {
            guard let member = object[name] else { throw .unexpected("'\(name)' is missing") }
            return try Self.read(name, member)
        }
        guard let value else { throw .unexpected("'\(name)' is missing") }
        written.append((name, value.jsonText))
        return value
    }

    /// A member that is null if there is no value; one that is read may also be absent.
    package mutating func orNull<Value: JSONConvertible>(_ name: String, _ value: Value?) throws(JSONError) -> Value? {
        if object == nil, value == nil { written.append((name, .null)) }
        return try orAbsent(name, value)
    }

    /// A member that is left out if there is no value; one that is read may also be null.
    package mutating func orAbsent<Value: JSONConvertible>(_ name: String, _ value: Value?) throws(JSONError) -> Value?
    {
        if let object {
            guard let member = object[name], member != .null else { return nil }
            return try Self.read(name, member)
        }
        if let value { written.append((name, value.jsonText)) }
        return value
    }

    /// A member that is left out if it is empty; nil if one is read that is absent or null.
    package mutating func unlessEmpty<Value: JSONConvertible & Collection>(
        _ name: String, _ value: Value?
    ) throws(JSONError) -> Value? {
        try orAbsent(name, value.flatMap { $0.isEmpty ? nil : $0 })
    }

    /// A member that is left out if it is false.
    package mutating func flag(_ name: String, _ value: Bool?) throws(JSONError) -> Bool {
        try orAbsent(name, value == true ? true : nil) ?? false
    }

    /// A member whose value is always the same: another one is of another version.
    package mutating func constant<Value: JSONConvertible & Equatable>(_ name: String, _ value: Value) throws(JSONError)
    {
        guard try self(name, value) == value else { throw .unexpected("expected \(value)", at: name) }
    }

    /// A member that is only written, because it follows from the others.
    package mutating func derived(_ name: String, _ value: @autoclosure () -> some JSONConvertible) {
        if object == nil { written.append((name, value().jsonText)) }
    }

    /// Refuses an object that is read and has a member of another name.
    package func refuseOthers(than names: [String]) throws(JSONError) {
        // Of several unknown members, the same one is always named.
        if let name = object?.keys.filter({ !names.contains($0) }).min() {
            throw .unexpected("there is no such member; there are \(names.joined(separator: ", "))", at: name)
        }
    }

    private static func read<Value: JSONConvertible>(_ name: String, _ value: JSONValue) throws(JSONError) -> Value {
        do throws(JSONError) { return try Value(jsonValue: value) } catch { throw error.below(name) }
    }
}
