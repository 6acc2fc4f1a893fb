import AppleClientSecret

/// A word of a shell's command.
struct ScriptWord {
    var range: Range<Int>
    /// Without quotes; expansions are not expanded.
    var text: [UInt8] = []
    /// How many bytes of the text are before the first quote or expansion, if there is one.
    private var plainEnd: Int?
    var isQuoted = false
    /// Whether the shell puts something else in place of a part.
    var isExpanded = false
    /// Whether a part is replaced with a command's output.
    var isSubstituted = false
    /// Whether a part is an arithmetic expression, which may assign, and fail.
    var isArithmetic = false
    /// The variables that a part sets if they are not set: `${NAME:=x}`.
    var defaults: [[UInt8]] = []
    /// Whether an array's values are behind the equals sign.
    var isArray = false

    init(at start: Int) { range = start..<start }

    var isPlain: Bool { !isQuoted && !isExpanded }

    var string: String { String(decoding: text, as: UTF8.self) }

    var isName: Bool { text.first?.isNameStart == true && text.allSatisfy(\.isNamePart) }

    var isNumber: Bool { isPlain && text.allSatisfy(\.isASCIIDigit) }

    /// Notes that a quote or an expansion begins.
    mutating func mark(isQuote: Bool) {
        plainEnd = plainEnd ?? text.count
        if isQuote { isQuoted = true } else { isExpanded = true }
    }

    /// A part of the text that assigns a variable.
    struct Assignment {
        let name: [UInt8]
        /// Whether nothing but the name is before the equals sign: for bash, it may also be an array's index, or `+`.
        let isScalar: Bool
        /// Whether there is nothing behind the equals sign.
        let isEmpty: Bool
        let value: ArraySlice<UInt8>
    }

    /// The word's assignment at the beginning of a command.
    ///
    /// - Parameter isArgument: whether it is an argument of `export` and its like, which may be quoted.
    func assignment(isDash: Bool, isArgument: Bool = false) -> Assignment? {
        var text = text[...]
        // How readers differ about a byte-order mark is `EnvironmentFile`'s concern.
        let mark = range.lowerBound == 0 && text.starts(with: EnvironmentFile.byteOrderMark)
        if mark { text = text.dropFirst(EnvironmentFile.byteOrderMark.count) }
        let name = text.prefix(while: \.isNamePart)
        guard name.first?.isNameStart == true else { return nil }
        var rest = text[name.endIndex...]
        if !isDash {
            if rest.first == UInt8(ascii: "["), let end = rest.firstIndex(of: UInt8(ascii: "]")) {
                rest = rest[(end + 1)...]
            }
            if rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        }
        let isScalar = rest.startIndex == name.endIndex
        guard rest.first == .equals, isArgument || !isScalar || rest.startIndex < plainEnd ?? .max else { return nil }
        return Assignment(
            name: Array(name), isScalar: isScalar && !isArray, isEmpty: rest.count == 1, value: rest.dropFirst())
    }

    /// The names in a text, without those of variables whose values it takes.
    static func names(in text: some Collection<UInt8>) -> [[UInt8]] {
        var names: [[UInt8]] = []
        var name: [UInt8] = []
        var (isValue, isContinued, last, before) = (false, false, UInt8(0), UInt8(0))
        for byte in text {
            // A quoted part and the next line go on with the same name.
            let isSkipped = byte.isQuote || byte == .backslash || byte == .lineFeed && isContinued
            isContinued = byte == .backslash
            if isSkipped { continue }
            if byte.isNamePart {
                if name.isEmpty { isValue = last == .dollar || last == .openingBrace && before == .dollar }
                name.append(byte)
            } else {
                if name.first?.isNameStart == true, !isValue { names.append(name) }
                name = []
            }
            (before, last) = (last, byte)
        }
        if name.first?.isNameStart == true, !isValue { names.append(name) }
        return names
    }
}
