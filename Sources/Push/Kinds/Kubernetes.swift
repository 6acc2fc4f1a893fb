import AppleClientSecret
import Digest
import Failures

extension PushKind {
    private static let serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/"

    /// Server-side apply with `force`: the key belongs to our field manager afterwards. Each key has a field manager of its
    /// own, because a manager that applies one key gives up the other keys that it owned.
    static let kubernetes = PushKind(
        name: "kubernetes",
        settings: [
            PushSetting(name: "namespace", advice: "the Secret's namespace"),
            PushSetting(name: "secret", advice: "the Secret's name"),
            PushSetting(name: "key", standard: "client_secret", advice: "the key in the Secret's data"),
        ], endpoint: "https://kubernetes.default.svc",
        own: OwnFiles(token: serviceAccount + "token", authorities: serviceAccount + "ca.crt"), authorization: .bearer,
        merge: { exchange, _ throws(RoleFailure) in exchange.nameManager() },
        write: PushRequest(
            "PATCH", "/api/v1/namespaces/{{namespace}}/secrets/{{secret}}",
            query: [.init("fieldManager", "{{manager}}"), .init("force", "true")],
            headers: [.init("Content-Type", "application/apply-patch+yaml")],
            body: .json(
                #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":{{secret}},"namespace":{{namespace}}},"#
                    + #""data":{ {{key}}:{{client_secret_base64}} }}"#),
            done: [200, 201]),
        read: PushRequest("GET", "/api/v1/namespaces/{{namespace}}/secrets/{{secret}}"),
        shape: [
            AnswerShape(at: ["kind"], is: [.text], equals: "Secret"),
            AnswerShape(
                at: ["immutable"], is: [.truth, .null, .absent], equals: "false",
                otherwise: "an immutable Secret cannot be changed", meaning: .pushImmutable),
            AnswerShape(at: ["data"], is: [.object, .null, .absent]),
            AnswerShape(at: ["data", "{{key}}"], is: [.text, .null, .absent]),
        ],
        inUse: [
            AnswerShape(
                at: ["metadata", "deletionTimestamp"], is: [.null, .absent], otherwise: "the Secret is being deleted")
        ], shown: shown(at: ["data", "{{key}}"], isBase64: true),
        creation: Creation(
            // A proxy in front of a cluster answers otherwise.
            evident: [
                AnswerShape(at: ["kind"], is: [.text], equals: "Status"),
                AnswerShape(at: ["reason"], is: [.text, .absent], equals: "NotFound"),
            ]),
        // Comes with the status that otherwise means a refused token.
        errors: [
            ErrorRule(status: 403, contains: ["exceeded quota"], meaning: .pushQuotaExceeded),
            // The cluster itself compares the version that it read with the one that it replaces.
            ErrorRule(status: 409, contains: ["the object has been modified"], meaning: .pushConflict),
            ErrorRule(status: 422, contains: ["immutable"], meaning: .pushImmutable),
        ])
}

extension PushExchange {
    /// In characters: the longest field manager's name that a cluster accepts. A key may be longer.
    private static let longestManager = 128

    /// Sets our field manager's name, with a digest of the key in place of one that is too long.
    fileprivate mutating func nameManager() {
        let key = values["key", default: ""]
        let name = "clientsecretd-" + key
        values["manager"] =
            name.utf8.count <= Self.longestManager
            ? name : "clientsecretd-" + Hex.encode(SHA256.digest(Array(key.utf8)))
    }
}
