/// What the file says of one setting.
enum Setting<Value> {
    case absent
    /// Something stands there that cannot be used, and was complained of.
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

    /// This, or `other` where nothing is said here.
    func or(_ other: Setting<Value>) -> Setting<Value> {
        isAbsent ? other : self
    }
}

/// Why a value cannot be used, and what to write instead.
struct Mistake: Error {
    let words: String
    /// Whether it is that a file may not be read.
    let isUnreadable: Bool

    init(_ words: String, isUnreadable: Bool = false) {
        self.words = words
        self.isUnreadable = isUnreadable
    }
}
