/// The bytes that mean something in an environment file.
extension UInt8 {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let hash = UInt8(ascii: "#")
    static let semicolon = UInt8(ascii: ";")
    static let ampersand = UInt8(ascii: "&")
    static let bar = UInt8(ascii: "|")
    static let dollar = UInt8(ascii: "$")
    static let lessThan = UInt8(ascii: "<")
    static let openingParenthesis = UInt8(ascii: "(")
    static let closingParenthesis = UInt8(ascii: ")")
    static let equals = UInt8(ascii: "=")
    static let singleQuote = UInt8(ascii: "'")
    static let doubleQuote = UInt8(ascii: "\"")
    static let backtick = UInt8(ascii: "`")
    static let backslash = UInt8(ascii: "\\")

    var isLineBreak: Bool { self == .lineFeed || self == .carriageReturn }

    /// White space within a line: space, tab, vertical tab, form feed.
    var isEnvironmentSpace: Bool { self == .space || self == .tab || self == 11 || self == 12 }

    var isNameStart: Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
            || self == UInt8(ascii: "_")
    }

    var isNamePart: Bool { isNameStart || (48...57).contains(self) }

    /// Characters that every reader counts as part of a name.
    var isOrdinary: Bool { isNamePart || self == UInt8(ascii: "-") || self == UInt8(ascii: ".") || self >= 0x80 }
}
