import AppleClientSecret

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
    static let colon = UInt8(ascii: ":")
    static let greaterThan = UInt8(ascii: ">")
    static let openingBrace = UInt8(ascii: "{")
    static let closingBrace = UInt8(ascii: "}")
    static let singleQuote = UInt8(ascii: "'")
    static let doubleQuote = UInt8(ascii: "\"")
    static let backtick = UInt8(ascii: "`")
    static let backslash = UInt8(ascii: "\\")

    var isLineBreak: Bool { self == .lineFeed || self == .carriageReturn }

    /// White space within a line: space, tab, vertical tab, form feed.
    var isEnvironmentSpace: Bool { self == .space || self == .tab || self == 11 || self == 12 }

    var isNameStart: Bool { isASCIILetter || self == UInt8(ascii: "_") }

    var isNamePart: Bool { isNameStart || isASCIIDigit }

    var isQuote: Bool { self == .singleQuote || self == .doubleQuote }

    /// Whether a new word, command or entry may begin behind it for some reader.
    var separatesWords: Bool { isDotenvSpace || ";&|<>(){}$`".utf8.contains(self) }

    /// White space to systemd and Node.
    var isSystemdSpace: Bool { self == .space || self == .tab || isLineBreak }

    /// White space, line breaks included, to most dotenv libraries.
    var isDotenvSpace: Bool { isASCIISpace }

    /// White space that PHP's `trim` removes.
    var isPHPSpace: Bool { isDotenvSpace && self != 12 }

    /// Characters that docker compose takes as part of a name. Of other letters than ASCII's it takes all.
    var isComposeNamePart: Bool { isNamePart || ".-[]".utf8.contains(self) || self >= 0x80 }
}
