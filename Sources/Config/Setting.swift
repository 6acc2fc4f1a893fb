/// One setting as read from a file.
enum Setting<Value> {
    case absent
    /// The value is invalid and was complained of.
    case wrong
    case given(Placed<Value>)

    var placed: Placed<Value>? {
        if case .given(let placed) = self { placed } else { nil }
    }

    var value: Value? { placed?.value }

    var isAbsent: Bool {
        if case .absent = self { true } else { false }
    }

    var isWrong: Bool {
        if case .wrong = self { true } else { false }
    }

    /// This one, or `other` when this one is absent.
    func or(_ other: Setting<Value>) -> Setting<Value> {
        isAbsent ? other : self
    }
}

/// Why a value cannot be used, and what to write instead.
struct Mistake: Error {
    let words: String
    /// Whether the reason is that a file may not be read.
    let isUnreadable: Bool

    init(_ words: String, isUnreadable: Bool = false) {
        self.words = words
        self.isUnreadable = isUnreadable
    }
}
