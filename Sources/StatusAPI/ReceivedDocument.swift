package import AppleClientSecret
import Failures

extension JSONDocument {
    /// Reads a document that the daemon sent.
    package init(json: [UInt8]) throws(ClientError) {
        do throws(JSONFlaw) {
            try self.init(parsing: json)
        } catch {
            throw .malformed(what: error.words)
        }
    }
}

extension JSONFlaw {
    /// What is wrong and where, in one line: `'clients[0]': 'name' is missing`. The sender chose the members' names, which may
    /// hold a secret or control characters.
    var words: String {
        switch self {
        case .notJSON: "it is not JSON"
        case .duplicate(let name): "'\(Redaction.plain(name))' is twice in one object"
        case .unexpected(let what, let path): path.isEmpty ? what : "'\(Redaction.plain(path))': \(what)"
        }
    }
}
