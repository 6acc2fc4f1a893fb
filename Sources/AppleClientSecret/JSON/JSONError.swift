/// Why bytes are not the JSON that is wanted.
package enum JSONError: Error, Hashable, Sendable {
    case notJSON
    /// Values are nested deeper than ``JSONValue/deepest`` levels.
    case tooDeep
    /// A number is larger than 64 bits of floating point hold.
    case numberTooLarge
    /// A name occurs twice in one object.
    case duplicate(String)
    /// A value differs from its document's rules. The first text is the expected form. The second is its place,
    /// `clients[0].name`, or empty if the whole text is meant.
    case unexpected(String, at: String = "")

    /// The same of a document inside another one.
    func below(_ name: String) -> JSONError {
        guard case .unexpected(let what, let path) = self else { return self }
        return .unexpected(what, at: path.isEmpty || path.hasPrefix("[") ? name + path : "\(name).\(path)")
    }
}
