import AppleClientSecret
import Failures

extension PushKind {
    /// KV version 2: the secret's other content is written back with it, unless another program wrote meanwhile.
    static let vault = PushKind(
        name: "vault",
        settings: [
            PushSetting(name: "mount", standard: "secret", advice: "where the KV engine is mounted", isPath: true),
            PushSetting(name: "path", advice: "the secret's path below the mount", isPath: true),
            PushSetting(name: "field", standard: "client_secret", advice: "the field's name"),
            PushSetting(name: "namespace", standard: "", advice: "the namespace", isPath: true),
        ], endpoint: nil, authorization: .header("X-Vault-Token"),
        document: Document(member: "field", name: "path"),
        merge: { exchange, found throws(RoleFailure) in try exchange.mergeField(found) },
        write: PushRequest(
            "POST", "/v1/{{mount/}}/data/{{path/}}", headers: [.init("X-Vault-Namespace", "{{namespace}}")],
            body: .json(#"{"options":{"cas":{{version!}}},"data":{{merged!}}}"#), done: [200, 204]),
        read: PushRequest(
            "GET", "/v1/{{mount/}}/data/{{path/}}", headers: [.init("X-Vault-Namespace", "{{namespace}}")]),
        shape: versionTwo + [
            AnswerShape(at: ["data", "data"], is: [.object]),
            AnswerShape(
                at: ["data", "data", "{{field}}"], is: [.text, .null, .absent], meaning: .pushPlaceUnsuitable),
        ], shown: shown(at: ["data", "data", "{{field}}"]),
        creation: Creation(
            // Vault(1) asks this before it reads or writes. A mount of version 1 reports every path below data/ as missing. A
            // write there would create an entry next to the secret that applications read.
            confirmation: PushRequest(
                "GET", "/v1/sys/internal/ui/mounts/{{mount/}}/{{path/}}",
                headers: [.init("X-Vault-Namespace", "{{namespace}}")]),
            confirmed: [
                AnswerShape(
                    at: ["data", "options", "version"], is: [.text], equals: "2", otherwise: engine,
                    meaning: .pushPlaceMissing)
            ], doubt: "the mount is a KV engine of version 2", evident: versionTwo,
            misplaced: ["data/", "metadata/", "{{mount}}/"].map { .init(setting: "path", text: $0) }
                + ["/data", "/metadata"].map { .init(setting: "mount", atEnd: true, text: $0) }),
        errors: [
            ErrorRule(status: 400, contains: ["check-and-set"], meaning: .pushConflict),
            // A standby that does not have the newest data yet.
            ErrorRule(status: 412, meaning: .pushServerFailed),
            ErrorRule(status: 503, contains: ["sealed"], meaning: .pushServerFailed),
        ])

    private static let engine = "a KV engine of version 2 is needed"
    /// An answer that a KV engine of version 1 never gives.
    private static let versionTwo = [
        AnswerShape(
            at: ["data", "metadata", "version"], is: [.number], otherwise: engine, meaning: .pushPlaceMissing)
    ]
}

extension PushExchange {
    /// Sets the version that is replaced, and the object with the secret as its field, and with those of other targets. A secret
    /// that was deleted still has a version.
    fileprivate mutating func mergeField(_ found: Found) throws(RoleFailure) {
        let answer = found.answer
        values["version"] = String(json(answer)?[["data", "metadata", "version"]]?.whole ?? 0)
        let range = found.isMissing ? nil : JSONValue.range(of: ["data", "data"], in: answer.body)
        let object = range.map { Array(answer.body[$0]) } ?? Array("{}".utf8)
        values["merged"] = try mergedWithOthers(as: values["field", default: ""], into: object)
    }
}
