/// What is known of one kind of API, as data: the requests, which answers mean done, and what can be read back.
///
/// Templates hold `{{name}}` for a setting of the target or for a value of the exchange: `client_secret`, `token`, and what
/// ``current`` gave (`version`, `merged`, `merged_text`). In a path it is percent-encoded, `{{name/}}` except for its
/// slashes; in a JSON body it becomes a string, `{{name!}}` the JSON that it is.
package struct PushKind: Sendable {
    package let name: String
    package let settings: [PushSetting]
    /// Where the API is, unless the target says so (a template); nil where a target has to.
    package let endpoint: String?
    package let authorization: Authorization
    /// The request before a write, for kinds whose write has to repeat what else is there.
    let current: PushRequest?
    let merge: Merge?
    let write: PushRequest
    let read: PushRequest?
    let shown: Shown
    /// For a kind whose settings act with the next deployment only.
    let redeployment: Redeployment?
    /// What error answers mean beyond their status; the first rule that matches counts.
    let errors: [ErrorRule]

    /// How a request is authorized.
    package enum Authorization: Sendable {
        /// `Authorization: Bearer TOKEN`.
        case bearer
        /// The token in a header of this name.
        case header(String)
        /// The token is a password: this request gives what goes into `Authorization`, at this JSON pointer.
        case login(PushRequest, token: [String])
        /// AWS Signature Version 4 for this service; the token is lines `AWS_ACCESS_KEY_ID=…`.
        case awsSignature(service: String)
        /// The requests' own headers hold `{{token}}`, if they need one.
        case ownHeaders
    }

    /// How the secret joins what is there already.
    enum Merge: Sendable {
        /// A member of the JSON object at the first pointer; `version` is the number at the second.
        case member(of: [String], named: String, version: [String])
        /// The string at this pointer, or a member of the JSON object in it where the setting of that name has a value.
        case text(at: [String], member: String)
        /// `clientSecret` of the element called `named` of the array `providers` in the object at the pointer.
        case provider(of: [String], named: String)
    }

    /// What the answer to ``read`` says of the secret.
    enum Shown: Sendable {
        case nothing
        case value(at: [String])
        /// In standard base64.
        case base64(at: [String])
        /// HMAC-SHA-256 with a setting as its key, in hexadecimal. Another digest says nothing: how it is made is not
        /// documented.
        case hmac(at: [String], key: String)
        /// The string, or a member of the JSON object in it where the setting of that name has a value.
        case text(at: [String], member: String)
    }

    /// Whether its secrets act with the next deployment only, so that targets may have `redeploy`.
    package var isDeployed: Bool { redeployment != nil }

    /// An answer with this status, if any is said, that has `contains` in the text at `pointer`, or anywhere.
    struct ErrorRule: Sendable {
        var status: Int?
        var contains: [String]
        let meaning: PushFailure.Code
    }

    package init(
        name: String, settings: [PushSetting], endpoint: String?, authorization: Authorization,
        write: PushRequest
    ) {
        self.init(
            name: name, settings: settings, endpoint: endpoint, authorization: authorization, current: nil, merge: nil,
            write: write, read: nil, shown: .nothing)
    }

    init(
        name: String, settings: [PushSetting], endpoint: String?, authorization: Authorization,
        current: PushRequest? = nil, merge: Merge? = nil, write: PushRequest, read: PushRequest?, shown: Shown,
        redeployment: Redeployment? = nil, errors: [ErrorRule] = []
    ) {
        self.name = name
        self.settings = settings
        self.endpoint = endpoint
        self.authorization = authorization
        self.current = current
        self.merge = merge
        self.write = write
        self.read = read
        self.shown = shown
        self.redeployment = redeployment
        self.errors = errors
    }
}

/// A setting that targets of one kind have, besides `kind`, `endpoint`, `ca_file` and the token.
package struct PushSetting: Sendable {
    package let name: String
    /// Nil where it has to be written.
    package let standard: String?
    /// Completes "write …".
    package let advice: String
    /// Whether slashes may stand in it.
    package let isPath: Bool
    /// Whether it is a list, which stands in ``PushTarget/settings`` as the elements of a JSON array.
    package let isList: Bool

    package init(_ name: String, standard: String? = nil, advice: String, isPath: Bool = false, isList: Bool = false) {
        self.name = name
        self.standard = standard
        self.advice = advice
        self.isPath = isPath
        self.isList = isList
    }
}

/// One request of a kind, as templates.
package struct PushRequest: Sendable {
    let method: String
    /// Behind the endpoint.
    let path: String
    /// Left out where a value is empty.
    let query: [Field]
    let headers: [Field]
    let body: Body?
    let done: Set<Int>

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
    }

    /// All that is sent but for what comes from settings, as templates.
    var texts: [String] {
        let content: [String] =
            switch body {
            case .json(let text), .template(let text): [text]
            case nil: []
            }
        var texts = [method, path]
        for field in query + headers { texts += [field.name, field.value] }
        return texts + content
    }

    package init(
        _ method: String, _ path: String, query: [Field] = [], headers: [Field] = [], body: Body? = nil,
        done: Set<Int> = [200]
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.done = done
    }
}
