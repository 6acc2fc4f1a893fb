/// Why libyaml could not parse a document.
struct YAMLSyntaxError: Error {
    let place: TextPlace
    /// libyaml's own message, which never quotes the document.
    let problem: String
    let context: String
    /// The byte or character at fault; negative when that is not known.
    let found: Int32

    /// The problem and its correction.
    var words: String {
        switch problem {
        case "control characters are not allowed":
            return found == 0
                ? "a NUL byte; write plain text, saved as UTF-8"
                : "a control character; write plain text, saved as UTF-8"
        case let text where text.contains("UTF-8") || text.contains("Unicode") || text.contains("UTF-16"):
            return "not UTF-8; save the file as UTF-8 text"
        case "mapping values are not allowed in this context":
            return #"a second ":" in one value, or the line is indented too far; put a value that holds ": " in quotes"#
        case "found character that cannot start any token":
            return unexpectedCharacter
        case "did not find expected key":
            return "the indentation fits none of the lines above; indent it like the lines it belongs to"
        case "could not find expected ':'":
            return #"a ":" is missing after the name; write it as "name: value""#
        case "did not find expected '-' indicator":
            return #"expected a "- " item or the end of the list; indent it like the lines it belongs to"#
        case "found unexpected end of stream":
            return "a quote is not closed; close it on the same line"
        case "found unexpected document indicator":
            return #"a quote is not closed before "---" or "..."; close it on the same line"#
        case "did not find expected ',' or ']'":
            return #"a "[" is not closed; separate the items by "," and end them with "]""#
        case "did not find expected ',' or '}'":
            return #"a "{" is not closed; separate the items by "," and end them with "}""#
        case "found unknown escape character":
            return #"an unknown escape after "\"; use single quotes where a backslash means itself"#
        case "mapping keys are not allowed in this context", "block sequence entries are not allowed in this context":
            return "not allowed on the same line; begin a new, indented line"
        case "did not find expected node content" where found < 0:
            return #"the file ends inside "[" or "{"; close it with "]" or "}""#
        case "did not find expected node content":
            return "a value is missing; write one, in quotes if it begins with a special character"
        case "found undefined tag handle":
            return #"tags ("!") are not used here; put a value that begins with "!" in quotes"#
        case "did not find expected <document start>":
            return "text outside of every setting; indent it like the lines it belongs to"
        default:
            return "not valid YAML (\(problem)); put values with special characters in quotes"
        }
    }

    private var unexpectedCharacter: String {
        switch found {
        case 9: "a tab; indent with spaces"
        case 33...126:
            "a value cannot begin with \"\(Unicode.Scalar(UInt8(found)))\"; put it in quotes"
        default: "a value cannot begin with this character; put it in quotes"
        }
    }
}
