import AppleClientSecret
import Failures

extension JSONError {
    /// The problem and its place, in one line: `'clients[0]': 'name' is missing`. The sender chose the members' names, which may
    /// hold a secret or control characters.
    var words: String {
        switch self {
        case .notJSON: "it is not JSON"
        case .tooDeep: "it is nested deeper than \(JSONValue.deepest) levels"
        case .numberTooLarge: "a number in it is too large"
        case .duplicate(let name): "'\(Redaction.plain(name))' is twice in one object"
        case .unexpected(let what, let path): path.isEmpty ? what : "'\(Redaction.plain(path))': \(what)"
        }
    }
}
