import Failures

/// What is known of one kind of API, as data: the requests, which answers mean done, and what can be read back.
///
/// Templates hold `{{name}}` for a setting of the target or for a value of the exchange: `client_secret`, `token`, and what
/// ``read`` gave (`version`, `merged`, `merged_text`). In a path it is percent-encoded, `{{name/}}` except for its
/// slashes; in a JSON body it becomes a string, `{{name!}}` the JSON that it is.
package struct PushKind: Sendable {
    package let name: String
    package let settings: [PushSetting]
    /// Where the API is, unless the target says so (a template); nil where a target has to.
    package let endpoint: String?
    package let authorization: Authorization
    /// How the secret joins what is there already; nil where the write changes nothing else.
    let merge: Merge?
    let write: PushRequest
    /// The request before and after a write; nil where nothing can be read.
    let read: PushRequest?
    /// What the answer to ``read`` has to look like, before anything is written.
    let shape: [Shape]
    let shown: Shown
    /// How something is created where ``read`` finds nothing; nil where it has to be there.
    let creation: Creation?
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
        /// Nothing is merged: of the variables in the array at the pointer, none with this setting as its name may be for some of
        /// the environments in that setting and for others as well.
        case variable(in: [String], named: String, environments: String)
    }

    /// How something is created that is not there yet.
    struct Creation: Sendable {
        /// What the answer that reports it as missing looks like, where its status is not enough.
        var shape: [Shape] = []
        /// Shows that the write creates what it is meant to, and not something else at the same address; nil where the answer
        /// that reports it as missing has the form of `evident`.
        var confirmation: PushRequest?
        var confirmed: [Shape] = []
        /// What is not known where the confirmation is refused: completes "that … is not shown".
        var doubt = ""
        var evident: [Shape] = []
        var misplaced: [Misplaced] = []
    }

    /// What a setting's value begins with, or ends in, where something was written into it that belongs elsewhere.
    struct Misplaced: Sendable {
        let setting: String
        var atEnd = false
        /// A template.
        let text: String
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

        var isSomething: Bool { if case .nothing = self { false } else { true } }
    }

    /// Whether its target describes the requests itself.
    var isCustom: Bool { if case .ownHeaders = authorization { true } else { false } }

    /// Whether its secrets act with the next deployment only, so that targets may have `redeploy`.
    package var isDeployed: Bool { redeployment != nil }

    /// What the addresses of requests begin with behind the endpoint, such as `/v1`; nil where a setting comes first.
    package var firstComponent: String? {
        let name = write.path.split(separator: "/").first ?? ""
        return name.isEmpty || name.contains("{{") ? nil : "/" + name
    }

    /// The settings into which something was written that belongs elsewhere, with a sentence that says what. A secret would be
    /// created beside the one that is meant.
    package func misplaced(in settings: [String: String]) -> [(setting: String, words: String)] {
        (creation?.misplaced ?? []).compactMap { rule in
            let text = PushTemplate.expand(rule.text, settings) { value, _ in value }
            guard let value = settings[rule.setting], rule.atEnd ? value.hasSuffix(text) : value.hasPrefix(text) else {
                return nil
            }
            return (rule.setting, "\"\(rule.setting)\" \(rule.atEnd ? "ends in" : "begins with") \"\(text)\"")
        }
    }

    /// An answer with this status, or with any that means an error, and with one of these texts.
    struct ErrorRule: Sendable {
        var status: Int?
        var contains: [String]
        let meaning: FailureCode
    }

    package init(
        name: String, settings: [PushSetting], endpoint: String?, authorization: Authorization,
        write: PushRequest
    ) {
        self.init(
            name: name, settings: settings, endpoint: endpoint, authorization: authorization, write: write, read: nil,
            shown: .nothing)
    }

    init(
        name: String, settings: [PushSetting], endpoint: String?, authorization: Authorization, merge: Merge? = nil,
        write: PushRequest, read: PushRequest?, shape: [Shape] = [], shown: Shown, creation: Creation? = nil,
        redeployment: Redeployment? = nil, errors: [ErrorRule] = []
    ) {
        self.name = name
        self.settings = settings
        self.endpoint = endpoint
        self.authorization = authorization
        self.merge = merge
        self.write = write
        self.read = read
        self.shape = shape
        self.shown = shown
        self.creation = creation
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
    package var isList: Bool { choices != nil }
    /// What may be in the list; nil where the setting is none.
    package let choices: [Choice]?

    /// One of the values that a list may have.
    package struct Choice: Sendable {
        package let name: String
        /// Why it cannot be used, and what to write instead; nil where it can.
        package let obstacle: String?

        package init(_ name: String, obstacle: String? = nil) {
            self.name = name
            self.obstacle = obstacle
        }
    }

    package init(
        _ name: String, standard: String? = nil, advice: String, isPath: Bool = false, choices: [Choice]? = nil
    ) {
        self.name = name
        self.standard = standard
        self.advice = advice
        self.isPath = isPath
        self.choices = choices
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
