import AppleClientSecret

/// The members of an API's JSON error that are known to be for people. Nothing else of an answer is shown, because the API may
/// repeat the request in it.
enum ErrorMembers {
    /// The members, in the order in which they are shown: those of Supabase, Vercel, PocketBase, Kubernetes, Vault, AWS and of
    /// problem details (RFC 9457).
    private static let members = [
        "__type", "code", "reason", "title", "error", "message", "Message", "msg", "error_description", "detail",
        "errors", "failed", "data",
    ]
    /// PocketBase has an error five levels below `data`.
    private static let deepest = 8

    /// The words of an error; nil if it has none.
    static func of(_ json: JSONValue) -> String? {
        var words: [String] = []
        collect(json, deepest, into: &words)
        return words.isEmpty ? nil : words.joined(separator: ": ")
    }

    private static func collect(_ json: JSONValue, _ levels: Int, into words: inout [String]) {
        guard levels > 0, case .object(let found) = json else { return }
        for name in members {
            switch found[name] {
            case .string(let text) where !text.isEmpty: words.append(text)
            case .array(let elements):
                for element in elements {
                    if let text = element.text {
                        words.append(text)
                    } else {
                        collect(element, levels - 1, into: &words)
                    }
                }
            case .object(let inner) where name == "data":
                // Errors of fields, by their names.
                for (field, error) in inner.sorted(by: { $0.key < $1.key }) {
                    collect(field, error, levels - 1, into: &words)
                }
            case .object(let inner): collect(.object(inner), levels - 1, into: &words)
            default: break
            }
        }
    }

    /// An error of a field, which may be an object of fields itself.
    private static func collect(_ field: String, _ error: JSONValue, _ levels: Int, into words: inout [String]) {
        guard levels > 0, case .object(let members) = error else { return }
        if let message = members["message"]?.text { return words.append("\(field): \(message)") }
        for (name, error) in members.sorted(by: { $0.key < $1.key }) {
            collect("\(field).\(name)", error, levels - 1, into: &words)
        }
    }
}
