/// A stretch of a line in one style.
struct Piece: Equatable {
    var text: String
    var style: Style?

    init(_ text: String, _ style: Style? = nil) {
        self.text = text
        self.style = style
    }

    /// The parameter of ECMA-48's SGR sequence.
    enum Style: Int {
        case bold = 1
        case dim = 2
        case red = 31
        case green = 32
        case yellow = 33
    }
}
