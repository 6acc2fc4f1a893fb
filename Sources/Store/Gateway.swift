import AppleClientSecret
import SignIn

/// A request to etcd's JSON gateway: a POST with a JSON body.
package struct GatewayRequest: Hashable, Sendable {
    /// Such as `/v3/kv/txn`.
    package let path: String
    package let body: [UInt8]

    /// The most operations that etcd takes in one transaction unless it is told otherwise (`--max-txn-ops`).
    static let mostOperations = 128

    private init(_ path: String, _ body: JSONText) {
        self.path = path
        self.body = body.bytes
    }

    private init(watching bodies: [JSONText]) {
        path = "/v3/watch"
        body = Array(bodies.map(\.bytes).joined(separator: [UInt8(ascii: "\n")]))
    }

    static func logIn(user: String, password: String) -> GatewayRequest {
        GatewayRequest(
            "/v3/auth/authenticate", .object([("name", .string(user)), ("password", .string(password))]))
    }

    /// Reads all keys at one revision, and from a member that has seen every write that ended before (linearizable).
    ///
    /// - Parameter withoutValues: to learn the revision of a value that is too long to be fetched.
    static func read(_ keys: [[UInt8]], withoutValues: Bool = false) -> GatewayRequest {
        GatewayRequest("/v3/kv/txn", .object([("success", .array(keys.map { range($0, withoutValues) }))]))
    }

    /// A value for a key that was last changed at `revision` (0: if there is none).
    struct Change {
        let key: [UInt8]
        let value: [UInt8]
        let revision: Int64
    }

    /// Puts the value if the key was last changed at `revision` (0: if there is none), and reads it otherwise.
    static func put(_ value: [UInt8], at key: [UInt8], ifAt revision: Int64) -> GatewayRequest {
        put([Change(key: key, value: value, revision: revision)])
    }

    /// Puts all the values if each key was last changed at its revision, and reads them all otherwise.
    static func put(_ changes: [Change]) -> GatewayRequest {
        let puts = changes.map { change in
            JSONText.object([
                (
                    "request_put",
                    .object([
                        ("key", .string(Base64.encode(change.key))), ("value", .string(Base64.encode(change.value))),
                    ])
                )
            ])
        }
        return GatewayRequest(
            "/v3/kv/txn",
            .object([
                ("compare", .array(changes.map { condition($0.key, at: $0.revision) })), ("success", .array(puts)),
                ("failure", .array(changes.map { range($0.key) })),
            ]))
    }

    /// Reads this many keys from `first` on and before `end`, in their order; those after it are left to later requests.
    static func page(
        from first: [UInt8], to end: [UInt8], limit: Int, withoutValues: Bool = false
    ) -> GatewayRequest {
        GatewayRequest(
            "/v3/kv/range",
            .object(
                [
                    ("key", .string(Base64.encode(first))), ("range_end", .string(Base64.encode(end))),
                    ("limit", .string(String(limit))),
                ] + (withoutValues ? [("keys_only", .bool(true))] : [])))
    }

    /// Removes the key if it was last changed at `revision`.
    static func delete(_ key: [UInt8], ifAt revision: Int64) -> GatewayRequest {
        let delete = JSONText.object([("request_delete_range", .object([("key", .string(Base64.encode(key)))]))])
        return GatewayRequest(
            "/v3/kv/txn", .object([("compare", .array([condition(key, at: revision)])), ("success", .array([delete]))]))
    }

    private static func condition(_ key: [UInt8], at revision: Int64) -> JSONText {
        .object([
            ("key", .string(Base64.encode(key))), ("target", .string("MOD")), ("result", .string("EQUAL")),
            ("mod_revision", .string(String(revision))),
        ])
    }

    /// A stream of what is changed in these keys from `revision` on.
    static func watch(_ keys: [[UInt8]], from revision: Int64) -> GatewayRequest {
        GatewayRequest(
            watching: keys.map { key in
                .object([
                    (
                        "create_request",
                        .object([
                            ("key", .string(Base64.encode(key))), ("start_revision", .string(String(revision))),
                        ])
                    )
                ])
            })
    }

    private static func range(_ key: [UInt8], _ withoutValue: Bool = false) -> JSONText {
        .object([
            (
                "request_range",
                .object([("key", .string(Base64.encode(key)))] + (withoutValue ? [("keys_only", .bool(true))] : []))
            )
        ])
    }
}

/// What the gateway answers, read by the rules of Protocol Buffers' JSON: a 64-bit number is a string of digits, or a
/// number; bytes are base64; a member that is absent has its default. A member of another type makes the whole answer
/// unusable.
enum GatewayAnswer {
    /// One key and its value.
    struct Entry: Hashable {
        let value: [UInt8]
        /// When it was last changed.
        let revision: Int64
    }

    /// The token of a login; nil for an answer without one.
    static func token(_ answer: HTTPAnswer) -> String? {
        guard let text = json(answer)?["token"]?.text, !text.isEmpty,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return text
    }

    /// What a transaction read of `keys`, in their order, and the store's revision; nil for an answer to something
    /// else.
    static func entries(_ answer: HTTPAnswer, of keys: [[UInt8]]) -> (entries: [Entry?], revision: Int64)? {
        guard let json = json(answer), let revision = revision(json), let responses = json["responses"]?.elements,
            responses.count == keys.count
        else { return nil }
        var entries: [Entry?] = []
        for (response, key) in zip(responses, keys) {
            guard let range = response["response_range"], case .object = range else { return nil }
            switch range["kvs"] {
            case nil, .array([]): entries.append(nil)
            case .array(let found):
                guard found.count == 1, let entry = entry(found[0], of: key) else { return nil }
                entries.append(entry)
            default: return nil
            }
        }
        return (entries, revision)
    }

    /// The keys of a page with their values, in their order, and whether more follow; nil for an answer to something else.
    static func page(_ answer: HTTPAnswer) -> (entries: [(key: [UInt8], entry: Entry)], hasMore: Bool)? {
        guard let json = json(answer), revision(json) != nil else { return nil }
        let found: [JSONValue]
        switch json["kvs"] {
        case nil: found = []
        case .array(let elements): found = elements
        default: return nil
        }
        let entries = found.compactMap { json -> (key: [UInt8], entry: Entry)? in
            guard let key = json["key"]?.text.flatMap({ Base64.decode($0) }), let entry = entry(json, of: key) else {
                return nil
            }
            return (key, entry)
        }
        guard entries.count == found.count else { return nil }
        return (entries, json["more"] == .bool(true) && !entries.isEmpty)
    }

    /// What became of a put.
    enum Put: Hashable {
        /// It is there, at this revision.
        case done(revision: Int64)
        /// A key was changed at another revision than was said, or is gone: what each of them holds, in their order.
        case found([Entry?])
    }

    /// What became of a put at these keys; nil for an answer to something else.
    static func put(_ answer: HTTPAnswer, at keys: [[UInt8]]) -> Put? {
        guard let json = json(answer) else { return nil }
        switch json["succeeded"] {
        case .bool(true):
            guard let revision = revision(json), json["responses"]?.elements?.count == keys.count else { return nil }
            return .done(revision: revision)
        case nil, .bool(false): return entries(answer, of: keys).map { .found($0.entries) }
        default: return nil
        }
    }

    private static func json(_ answer: HTTPAnswer) -> JSONValue? {
        guard let json = try? JSONValue(answer.body, duplicates: .refused), case .object = json else { return nil }
        return json
    }

    private static func revision(_ json: JSONValue) -> Int64? {
        guard let header = json["header"], case .object = header else { return nil }
        return number(header["revision"])
    }

    private static func entry(_ json: JSONValue, of key: [UInt8]) -> Entry? {
        guard json["key"]?.text == Base64.encode(key), let revision = number(json["mod_revision"]), revision > 0 else {
            return nil
        }
        switch json["value"] {
        case nil: return Entry(value: [], revision: revision)
        case .string(let text): return Base64.decode(text).map { Entry(value: $0, revision: revision) }
        default: return nil
        }
    }

    /// A number that is not negative; nil for anything else.
    private static func number(_ json: JSONValue?) -> Int64? {
        let number: Int64?
        switch json {
        case nil: number = 0
        case .integer(let value): number = value
        case .string(let text):
            number = text.utf8.allSatisfy { (48...57).contains($0) } ? Int64(text) : nil
        default: number = nil
        }
        return number.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// What etcd says when it does not do what was asked.
enum GatewayError: Hashable {
    /// The login has expired, or is another member's.
    case tokenInvalid
    case loginRefused
    /// There is no user where etcd wants one, or the other way round.
    case userMismatch
    /// etcd takes no certificate with a CN over the gateway.
    case certificateNamed
    case forbidden
    case outOfSpace
    /// This member cannot answer now; another one may.
    case unavailable
    /// It answers otherwise than etcd does.
    case unexpected

    init(_ answer: HTTPAnswer) {
        let text = String(decoding: answer.body.prefix(4_096), as: UTF8.self)
        let json = try? JSONValue(answer.body, duplicates: .lastCounts)
        let words = json?["message"]?.text ?? json?["error"]?.text ?? text
        func says(_ part: String) -> Bool { words.lowercased().contains(part) }
        self =
            switch json?["code"]?.whole {
            case 16: .tokenInvalid
            case 7: .forbidden
            case 8: says("space") ? .outOfSpace : .unavailable
            case 3 where says("authentication failed"): .loginRefused
            case 3 where says("user name is empty"): .userMismatch
            case 9 where says("authentication is not enabled"): .userMismatch
            // Cancelled, unknown, deadline exceeded, aborted, internal, unavailable: a member in trouble.
            case 1, 2, 4, 10, 13, 14: .unavailable
            case nil where answer.status == 400 && says("commonname"): .certificateNamed
            case nil where [429, 500, 502, 503, 504].contains(answer.status): .unavailable
            default: .unexpected
            }
    }
}
