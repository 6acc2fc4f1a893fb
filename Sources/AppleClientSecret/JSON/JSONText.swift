/// A JSON text that keeps its members in the order they are written in, as FoundationEssentials' encoder does not.
package enum JSONText {
    case null
    case bool(Bool)
    case number(Int)
    case string(String)
    case array([JSONText])
    case object([(name: String, value: JSONText)])

    /// A string, or null when there is none.
    package static func text(_ text: String?) -> JSONText {
        text.map(JSONText.string) ?? .null
    }

    /// A moment as RFC 3339 writes it in UTC, or null when there is none, or that form cannot express it.
    package static func moment(_ moment: WallTime?) -> JSONText {
        text(moment?.rfc3339)
    }

    /// The text without any white space between its parts.
    package var rendered: String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// ``rendered`` in UTF-8.
    package var bytes: [UInt8] {
        var output: [UInt8] = []
        write(to: &output)
        return output
    }

    private func write(to output: inout [UInt8]) {
        switch self {
        case .null: output += "null".utf8
        case .bool(let value): output += (value ? "true" : "false").utf8
        case .number(let value): output += String(value).utf8
        case .string(let value): Self.write(value, to: &output)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.write(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &output)
                output.append(UInt8(ascii: ":"))
                member.value.write(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    /// Writes a string in quotes; escapes the characters of RFC 8259, section 7, and all others that a terminal acts on.
    private static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        if text.utf8.allSatisfy(isPlain) {
            output += text.utf8
        } else {
            for scalar in text.unicodeScalars {
                if scalar.isASCII, !isPlain(UInt8(scalar.value)) {
                    output += escaped(UInt8(scalar.value)).utf8
                } else if scalar.isUnprintable {
                    for unit in scalar.utf16 { output += "\\u\(Hex.encode(unit))".utf8 }
                } else {
                    output += scalar.utf8
                }
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isASCIIPrintable && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func escaped(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "\""): "\\\""
        case UInt8(ascii: "\\"): "\\\\"
        case UInt8(ascii: "\n"): "\\n"
        case UInt8(ascii: "\r"): "\\r"
        case UInt8(ascii: "\t"): "\\t"
        default: "\\u00" + Hex.encode(byte)
        }
    }
}
