/// One request of a kind, as templates.
package struct PushRequest: Sendable {
    let method: String
    /// Behind the endpoint.
    let path: String
    /// Left out where a value is empty.
    private(set) var query: [Field]
    let headers: [Field]
    let body: Body?
    let done: Set<Int>
    /// Whether the answer is a JSON array, and no object.
    let isList: Bool
    /// The form of an answer that means success of a write that cannot be read back.
    let confirmed: [AnswerShape]

    /// A name and a template.
    package struct Field: Sendable {
        let name: String
        let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package enum Body: Sendable {
        /// A JSON text.
        case json(String)
        /// A text as outputs of format `template` have it.
        case template(String)

        var text: String {
            switch self {
            case .json(let text), .template(let text): text
            }
        }
    }

    /// All parts of requests that do not come from settings, as templates.
    var texts: [String] {
        [method, path] + (query + headers).flatMap { [$0.name, $0.value] } + [body?.text].compactMap(\.self)
    }

    /// The same with another field in its query.
    func adding(_ field: Field) -> PushRequest {
        var request = self
        request.query.append(field)
        return request
    }

    init(
        _ method: String, _ path: String, query: [Field] = [], headers: [Field] = [], body: Body? = nil,
        done: Set<Int> = [200], isList: Bool = false, confirmed: [AnswerShape] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.done = done
        self.isList = isList
        self.confirmed = confirmed
    }
}
