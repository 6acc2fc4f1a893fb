/// A value and its position.
struct Located<Value> {
    let value: Value
    let position: Position

    init(_ value: Value, at position: Position) {
        self.value = value
        self.position = position
    }
}

extension Located: Sendable where Value: Sendable {}
