import AppleClientSecret
import Failures

/// The required form of an answer in one place, so that something absent, or of another kind, is not mistaken for something
/// empty.
struct AnswerShape: Sendable {
    /// The possible content of a place in a JSON text.
    enum Form: String, Sendable {
        case object = "an object"
        case array = "an array"
        case text = "a text"
        case number = "a number"
        case truth = "true or false"
        case null = "null"
        case absent = "nothing"

        init(_ value: JSONValue?) {
            self =
                switch value {
                case .object: .object
                case .array: .array
                case .string: .text
                case .integer, .fraction: .number
                case .bool: .truth
                case .null: .null
                case nil: .absent
                }
        }
    }

    /// A JSON pointer, whose names are templates.
    let pointer: [String]
    let forms: Set<Form>
    /// The required value of a text, or whether a truth is true, as a template; nil for any.
    let value: String?
    /// The end of the message if it is otherwise.
    let otherwise: String?
    let meaning: FailureCode

    init(
        at pointer: [String], is forms: Set<Form>, equals value: String? = nil, otherwise: String? = nil,
        meaning: FailureCode = .pushAnswerUnexpected
    ) {
        self.pointer = pointer
        self.forms = forms
        self.value = value
        self.otherwise = otherwise
        self.meaning = meaning
    }

    /// The mismatching content; nil if the answer fits.
    ///
    /// - Parameter fill: expands a template.
    func mismatch(_ answer: JSONValue, _ fill: (String) -> String) -> String? {
        let pointer = pointer.map(fill)
        let found = answer[pointer]
        let form = Form(found)
        let place = pointer.isEmpty ? "the answer" : pointer.joined(separator: ".")
        var words: String
        if !forms.contains(form) {
            words = form == .absent ? Self.gap(in: answer, at: pointer) : "\(place) is \(form.rawValue)"
        } else if let value, let shown = Self.text(found), shown != fill(value) {
            words = "\(place) is \(Printable.name(shown))"
        } else {
            return nil
        }
        if let otherwise { words += ", and \(otherwise)" }
        return words
    }

    /// Whether an answer fits.
    static func fits(_ shapes: [AnswerShape], _ answer: JSONValue, _ fill: (String) -> String) -> Bool {
        shapes.allSatisfy { $0.mismatch(answer, fill) == nil }
    }

    private static func text(_ value: JSONValue?) -> String? {
        if case .bool(let isTrue)? = value { return String(isTrue) }
        return value?.text
    }

    /// The content instead of the value at a pointer.
    private static func gap(in answer: JSONValue, at pointer: [String]) -> String {
        let depth = pointer.indices.last { answer[Array(pointer[..<$0])] != nil } ?? 0
        let parent = Array(pointer[..<depth])
        let place = parent.isEmpty ? "the answer" : parent.joined(separator: ".")
        return "there is no \(pointer[...depth].joined(separator: ".")): \(place) is "
            + describe(answer[parent] ?? .null)
    }

    /// In names: more do not help.
    private static let longestList = 8

    /// A value in words, without anything of it but the names of members.
    static func describe(_ value: JSONValue) -> String {
        guard case .object(let members) = value else { return Form(value).rawValue }
        guard !members.isEmpty else { return "an empty object" }
        let names = members.keys.sorted()
        let more = names.count > longestList ? " and more" : ""
        return "an object with " + names.prefix(longestList).map(Printable.name).joined(separator: ", ") + more
    }

    /// An answer in words, whatever it is.
    static func describe(_ body: [UInt8]) -> String {
        let start = body.first { !$0.isJSONBlank }
        guard let start else { return "nothing" }
        do throws(JSONError) {
            return describe(try JSONValue(body))
        } catch {
            return switch error {
            case .duplicate(let name): "an object with \(Printable.name(name)) twice"
            case .tooDeep: "JSON that is deeper than \(JSONValue.deepest) levels"
            case .numberTooLarge: "JSON with a number that is too large"
            case .notJSON, .unexpected: start == UInt8(ascii: "<") ? "an HTML page" : "no JSON"
            }
        }
    }
}
