/// One setting as read from a file.
enum Setting<Value> {
    case absent
    /// The value is invalid and was reported.
    case wrong
    case given(Located<Value>)

    var located: Located<Value>? {
        if case .given(let located) = self { located } else { nil }
    }

    var value: Value? { located?.value }

    var position: Position? { located?.position }

    var isAbsent: Bool {
        if case .absent = self { true } else { false }
    }

    var isWrong: Bool {
        if case .wrong = self { true } else { false }
    }

    /// The same with another value.
    func map<Other>(_ transform: (Value) -> Other) -> Setting<Other> {
        flatMap { value in .given(Located<Other>(transform(value.value), at: value.position)) }
    }

    /// The result of a conversion of the value.
    func flatMap<Other>(_ transform: (Located<Value>) -> Setting<Other>) -> Setting<Other> {
        switch self {
        case .absent: .absent
        case .wrong: .wrong
        case .given(let located): transform(located)
        }
    }

    /// This one, or `other` when this one is absent.
    func or(_ other: Setting<Value>) -> Setting<Value> {
        isAbsent ? other : self
    }
}

extension Setting: Sendable where Value: Sendable {}

extension Setting {
    /// A single value, parsed by `parse`; wrong when it is none or `parse` throws, which is reported.
    ///
    /// - Parameters:
    ///   - name: the value's name in messages.
    ///   - position: the position of that name.
    ///   - mayBeEmpty: whether an empty text is a value.
    init(
        _ node: YAMLNode, named name: String, at position: Position, _ diagnostics: Diagnostics,
        mayBeEmpty: Bool = false, _ parse: (String) throws(ValueError) -> Value
    ) {
        self = .wrong
        switch node.content {
        case .scalar("") where !mayBeEmpty:
            diagnostics.error(at: position, "\(name) has no value; write one or remove the line")
        case .scalar(let text):
            do {
                self = .given(Located(try parse(text), at: node.position))
            } catch {
                diagnostics.error(at: node.position, error.words)
            }
        case .sequence: diagnostics.error(at: node.position, "\(name) is a list; write one value")
        case .mapping: diagnostics.error(at: node.position, "\(name) has settings of its own; write one value")
        case .refused: break
        }
    }
}
