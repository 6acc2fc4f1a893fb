/// A part of a YAML document. A scalar is its text: nothing is interpreted as a number, a truth value or a date.
struct YAMLNode {
    let position: Position
    let content: Content

    indirect enum Content {
        /// The text; empty if there is no value.
        case scalar(String)
        case sequence([YAMLNode])
        case mapping([YAMLEntry])
        /// Something that is never allowed and was reported, such as an alias.
        case refused
    }

    /// Whether it is `{}`.
    var isEmptyMapping: Bool {
        if case .mapping(let entries) = content { entries.isEmpty } else { false }
    }
}

/// One key and its value.
struct YAMLEntry {
    let key: Located<String>
    let value: YAMLNode
}
