internal import Rotation

/// A mapping with a fixed set of names: gives the values by name and reports unknown names.
struct Section {
    /// Whose settings these are, for messages: `client "web"`.
    let owner: String
    /// Where the owner is named; missing settings are reported there.
    let position: Position
    let complaints: Diagnostics
    private let entries: [String: YAMLEntry]
    /// Known names that unknown ones most likely meant: not reported as missing as well.
    private let misspelt: Set<String>

    /// Nil, with a complaint, when the node is no mapping.
    init?(_ node: YAMLNode, of owner: String, at position: Position, names known: [String], complaints: Diagnostics) {
        guard let lines = Self.lines(of: node, named: owner, at: position, complaints: complaints) else { return nil }
        self.owner = owner
        self.position = position
        self.complaints = complaints
        var entries: [String: YAMLEntry] = [:]
        var misspelt: Set<String> = []
        for entry in lines {
            if known.contains(entry.key) {
                entries[entry.key] = entry
            } else if let meant = Self.complain(of: entry, in: owner, known: known, complaints: complaints) {
                misspelt.insert(meant)
            }
        }
        self.entries = entries
        self.misspelt = misspelt
    }

    /// The entries of a mapping whose names the user chooses. Nil, with a complaint, when the node is no mapping.
    static func lines(
        of node: YAMLNode, named owner: String, at position: Position, complaints: Diagnostics
    ) -> [YAMLEntry]? {
        switch node.content {
        case .mapping(let lines): return lines
        case .refused: return nil
        case .scalar(""):
            complaints.error(
                at: position, "\(owner) is empty; write its settings below it, indented, or remove the line")
        case .scalar:
            complaints.error(
                at: node.position, "\(owner) is one value; write its settings as \"name: value\", indented")
        case .sequence:
            complaints.error(
                at: node.position, "\(owner) is a list; write its settings as \"name: value\", without \"-\"")
        }
        return nil
    }

    /// Whether the setting is there, whatever its value.
    func has(_ name: String) -> Bool {
        entries[name] != nil
    }

    /// Whether the setting is there, even misspelt.
    func mentions(_ name: String) -> Bool {
        has(name) || misspelt.contains(name)
    }

    func position(of name: String) -> Position {
        entries[name]?.keyPosition ?? position
    }

    /// The setting's node and its name's position.
    func node(_ name: String) -> (node: YAMLNode, name: Position)? {
        entries[name].map { ($0.value, $0.keyPosition) }
    }

    /// The setting's single value, parsed by `read`.
    func value<Value>(_ name: String, _ read: (String) throws(Mistake) -> Value) -> Setting<Value> {
        guard let entry = entries[name] else { return missing(name) }
        return Self.value(entry.value, named: "\"\(name)\"", at: entry.keyPosition, complaints: complaints, read)
    }

    /// A single value, parsed by `read`.
    static func value<Value>(
        _ node: YAMLNode, named name: String, at position: Position, complaints: Diagnostics,
        _ read: (String) throws(Mistake) -> Value
    ) -> Setting<Value> {
        switch node.content {
        case .scalar(""):
            complaints.error(at: position, "\(name) has no value; write one or remove the line")
        case .scalar(let text):
            do {
                return .given(Placed(try read(text), node.position))
            } catch {
                complaints.error(at: node.position, error.words)
            }
        case .sequence: complaints.error(at: node.position, "\(name) is a list; write one value")
        case .mapping: complaints.error(at: node.position, "\(name) has settings of its own; write one value")
        case .refused: break
        }
        return .wrong
    }

    /// The setting's list, with each item parsed by `read`; an item that `read` complained of is nil.
    func list<Item>(_ name: String, _ read: (YAMLNode) -> Item?) -> Setting<[Item?]> {
        guard let entry = entries[name] else { return missing(name) }
        switch entry.value.content {
        case .sequence(let items):
            return .given(Placed(items.map(read), entry.keyPosition))
        case .scalar(""):
            complaints.error(at: entry.keyPosition, "\"\(name)\" is empty; write its items below it as \"- …\"")
        case .scalar, .mapping:
            complaints.error(at: entry.value.position, "\"\(name)\" is a list; begin each of its items with \"- \"")
        case .refused: break
        }
        return .wrong
    }

    /// The value of a setting without an entry.
    func missing<Value>(_ name: String) -> Setting<Value> {
        misspelt.contains(name) ? .wrong : .absent
    }

    /// Reports an unknown name; returns the known one most likely meant.
    private static func complain(
        of entry: YAMLEntry, in owner: String, known: [String], complaints: Diagnostics
    ) -> String? {
        let meant = nearest(to: entry.key, among: known)
        let advice: String
        if entry.key == "<<" {
            advice = "shared settings stand under \"defaults\""
        } else if let meant {
            advice = "did you mean \"\(meant)\"?"
        } else {
            advice = "\(owner) takes \(alternatives(known, joinedBy: "and"))"
        }
        complaints.error(at: entry.keyPosition, "unknown key\(apposition(entry.key)); \(advice)")
        return meant
    }
}
