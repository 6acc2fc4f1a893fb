import AppleClientSecret
internal import Model

/// A mapping with a fixed set of names: gives the values by name and reports unknown names.
struct Section {
    /// The owner of these settings, shown in messages: `client "web"`.
    let owner: String
    /// The position of the owner's name; missing settings are reported there.
    let position: Position
    let diagnostics: Diagnostics
    /// Those with a known name. Searched from the first: there are a few, and a table of them for each client took longer.
    private let entries: [YAMLEntry]
    /// Known names that unknown ones most likely meant: not reported as missing as well.
    private let misspelt: Set<String>

    /// Nil, with an error, when the node is no mapping.
    init?(_ node: YAMLNode, of owner: String, at position: Position, names known: [String], _ diagnostics: Diagnostics)
    {
        guard let lines = Self.lines(of: node, named: owner, at: position, diagnostics) else { return nil }
        self.owner = owner
        self.position = position
        self.diagnostics = diagnostics
        var misspelt: Set<String> = []
        entries = lines.filter { entry in
            if known.contains(entry.key.value) { return true }
            if let meant = Self.report(unknown: entry.key, in: owner, known: known, diagnostics) {
                misspelt.insert(meant)
            }
            return false
        }
        self.misspelt = misspelt
    }

    /// The entries of a mapping whose names the user chooses. Nil, with an error, when the node is no mapping.
    static func lines(
        of node: YAMLNode, named owner: String, at position: Position, _ diagnostics: Diagnostics
    ) -> [YAMLEntry]? {
        switch node.content {
        case .mapping(let lines): return lines
        case .refused: return nil
        case .scalar(""):
            diagnostics.error(
                at: position, "\(owner) is empty; write its settings below it, indented, or remove the line")
        case .scalar:
            diagnostics.error(
                at: node.position, "\(owner) is one value; write its settings as \"name: value\", indented")
        case .sequence:
            diagnostics.error(
                at: node.position, "\(owner) is a list; write its settings as \"name: value\", without \"-\"")
        }
        return nil
    }

    private func entry(_ name: String) -> YAMLEntry? { entries.first { $0.key.value == name } }

    /// Whether the setting is present, with any value.
    func has(_ name: String) -> Bool {
        entry(name) != nil
    }

    /// Whether the setting is there, even misspelt.
    func mentions(_ name: String) -> Bool {
        has(name) || misspelt.contains(name)
    }

    func position(of name: String) -> Position {
        entry(name)?.key.position ?? position
    }

    /// The setting's node and its name's position.
    func node(_ name: String) -> (node: YAMLNode, name: Position)? {
        entry(name).map { ($0.value, $0.key.position) }
    }

    /// The settings below a setting; wrong, with an error, when it has none.
    func section(_ name: String, names: [String]) -> Setting<Section> {
        guard let entry = entry(name) else { return missing(name) }
        let position = entry.key.position
        let section = Section(entry.value, of: "\"\(name)\"", at: position, names: names, diagnostics)
        return section.map { .given(Located($0, at: position)) } ?? .wrong
    }

    /// The entries below a setting, whose names the user chooses; none, with an error, when it has none.
    func lines(_ name: String) -> [YAMLEntry] {
        guard let entry = entry(name) else { return [] }
        return Self.lines(of: entry.value, named: "\"\(name)\"", at: entry.key.position, diagnostics) ?? []
    }

    /// The setting's single value, parsed by `parse`.
    func value<Value>(
        _ name: String, mayBeEmpty: Bool = false, _ parse: (String) throws(ValueError) -> Value
    ) -> Setting<Value> {
        guard let entry = entry(name) else { return missing(name) }
        return Setting(
            entry.value, named: "\"\(name)\"", at: entry.key.position, diagnostics, mayBeEmpty: mayBeEmpty, parse)
    }

    /// The value of a setting that has to be there.
    ///
    /// - Parameter advice: the correction.
    func needed<Value>(
        _ name: String, _ parse: (String) throws(ValueError) -> Value, _ advice: String
    ) -> Setting<Value> {
        let setting = value(name, parse)
        if setting.isAbsent { diagnostics.error(at: position, "\(owner) has no \"\(name)\"; \(advice)") }
        return setting
    }

    /// One of two settings that exclude each other; wrong, with an error, if both are present.
    func either<Value>(
        _ first: String, _ parseFirst: (String) throws(ValueError) -> Value, or second: String,
        _ parseSecond: (String) throws(ValueError) -> Value
    ) -> Setting<Value> {
        let found = value(first, parseFirst).or(value(second, parseSecond))
        guard has(first), has(second) else { return found }
        diagnostics.error(
            at: max(position(of: first), position(of: second)),
            "\"\(first)\" and \"\(second)\" exclude each other; keep one")
        return .wrong
    }

    /// One value, or a list of them.
    ///
    /// - Parameters:
    ///   - item: the name of a list's item in messages.
    ///   - problem: the error for a list of so many items, with its correction.
    func oneOrMore<Value>(
        _ name: String, each item: String, _ parse: (String) throws(ValueError) -> Value,
        problem: (_ count: Int) -> String?
    ) -> Setting<[Located<Value>]> {
        guard let (node, position) = node(name), case .sequence(let items) = node.content else {
            return value(name, parse).flatMap { .given(Located([$0], at: $0.position)) }
        }
        let known = items.compactMap {
            Setting($0, named: item, at: $0.position, diagnostics, parse).located
        }
        if let problem = problem(items.count) {
            diagnostics.error(at: position, "\"\(name)\" \(problem)")
            return .wrong
        }
        return known.count == items.count ? .given(Located(known, at: node.position)) : .wrong
    }

    /// The section of a setting that names a unit and one other thing. Nil if there is none or, with an error, it is no section.
    /// Missing settings of it are reported.
    ///
    /// - Parameter value: an example of the other thing.
    func unitAnd(_ other: String, of name: String, such value: String) -> Section? {
        guard let (node, position) = node(name) else { return nil }
        let advice = "write {unit: myapp.service, \(other): \(value)}"
        if case .scalar(let text) = node.content, !text.isEmpty {
            diagnostics.error(at: node.position, "\"\(name)\" needs a unit and a \(other); \(advice)")
            return nil
        }
        let names = ["unit", other]
        guard let section = Section(node, of: "\"\(name)\"", at: position, names: names, diagnostics) else {
            return nil
        }
        for missing in names where !section.mentions(missing) {
            diagnostics.error(at: position, "\"\(name)\" has no \"\(missing)\"; \(advice)")
        }
        return section
    }

    /// The setting's list of single values; nil for an item that is wrong.
    ///
    /// - Parameter item: the name of an item in messages.
    func list<Value>(
        _ name: String, each item: String, _ parse: (String) throws(ValueError) -> Value
    ) -> Setting<[Located<Value>?]> {
        list(name) { Setting($0, named: item, at: $0.position, diagnostics, parse).located }
    }

    /// The setting's list, with each item parsed by `read`; nil for an item that `read` reported.
    func list<Item>(_ name: String, _ read: (YAMLNode) -> Item?) -> Setting<[Item?]> {
        guard let entry = entry(name) else { return missing(name) }
        switch entry.value.content {
        case .sequence(let items):
            return .given(Located(items.map(read), at: entry.key.position))
        case .scalar(""):
            diagnostics.error(at: entry.key.position, "\"\(name)\" is empty; write its items below it as \"- …\"")
        case .scalar, .mapping:
            diagnostics.error(at: entry.value.position, "\"\(name)\" is a list; begin each of its items with \"- \"")
        case .refused: break
        }
        return .wrong
    }

    /// The value of a setting without an entry.
    func missing<Value>(_ name: String) -> Setting<Value> {
        misspelt.contains(name) ? .wrong : .absent
    }

    /// Reports an unknown name; returns the known one most likely meant.
    private static func report(
        unknown key: Located<String>, in owner: String, known: [String], _ diagnostics: Diagnostics
    ) -> String? {
        let meant = nearest(to: key.value, among: known)
        let advice: String
        if key.value == "<<" {
            advice = "shared settings are under \"defaults\""
        } else if let meant {
            advice = "did you mean \"\(meant)\"?"
        } else {
            advice = "\(owner) takes \(alternatives(known, joinedBy: "and"))"
        }
        diagnostics.error(at: key.position, "unknown key\(apposition(key.value)); \(advice)")
        return meant
    }
}
