import AppleClientSecret

/// A request to etcd's JSON gateway: a POST with a JSON body.
package struct EtcdRequest: Hashable, Sendable {
    /// Such as `/v3/kv/txn`.
    package let path: String
    package let body: [UInt8]

    /// The most operations that etcd takes in one transaction unless it is configured otherwise (`--max-txn-ops`).
    static let mostOperations = 128

    private init(_ path: String, _ body: JSONText) {
        self.path = path
        self.body = body.bytes
    }

    private init(watching bodies: [JSONText]) {
        path = "/v3/watch"
        body = Array(bodies.map(\.bytes).joined(separator: [UInt8(ascii: "\n")]))
    }

    static func logIn(user: String, password: String) -> EtcdRequest {
        EtcdRequest("/v3/auth/authenticate", .object([("name", .string(user)), ("password", .string(password))]))
    }

    /// Reads all keys at one revision, and from a member that has seen every write that ended before (linearizable).
    ///
    /// - Parameter withoutValues: to learn the revision of a value that is too long to be fetched.
    static func read(_ keys: [[UInt8]], withoutValues: Bool = false) -> EtcdRequest {
        transaction(success: keys.map { range($0, withoutValues) })
    }

    /// Puts all the values if each key was last changed at its revision, and reads them all otherwise.
    static func put(_ puts: [StoreRequest.Put], below prefix: String) -> EtcdRequest {
        let puts = puts.map { (key: $0.key.bytes(below: prefix), value: $0.value, revision: $0.revision) }
        return transaction(
            compare: puts.map { condition($0.key, at: $0.revision) },
            success: puts.map { operation("request_put", [key($0.key), ("value", .string(Base64.encode($0.value)))]) },
            failure: puts.map { range($0.key) })
    }

    /// Reads this many keys from `first` on and before `end`, in their order; those after it are left to later requests.
    static func page(
        from first: [UInt8], to end: [UInt8], limit: Int, withoutValues: Bool = false
    ) -> EtcdRequest {
        let range = [key(first), ("range_end", .string(Base64.encode(end))), ("limit", .string(String(limit)))]
        return EtcdRequest("/v3/kv/range", .object(range + keysOnly(withoutValues)))
    }

    /// Removes the key if it was last changed at `revision`.
    static func delete(_ key: [UInt8], ifAt revision: Int64) -> EtcdRequest {
        transaction(
            compare: [condition(key, at: revision)], success: [operation("request_delete_range", [Self.key(key)])])
    }

    /// A stream of the changes of these keys from `revision` on.
    static func watch(_ keys: [[UInt8]], from revision: Int64) -> EtcdRequest {
        EtcdRequest(
            watching: keys.map {
                operation("create_request", [key($0), ("start_revision", .string(String(revision)))])
            })
    }

    // MARK: Parts

    private typealias Member = (String, JSONText)

    private static func transaction(
        compare: [JSONText] = [], success: [JSONText], failure: [JSONText] = []
    ) -> EtcdRequest {
        let parts = [("compare", compare), ("success", success), ("failure", failure)].filter { !$0.1.isEmpty }
        return EtcdRequest("/v3/kv/txn", .object(parts.map { ($0.0, .array($0.1)) }))
    }

    private static func key(_ key: [UInt8]) -> Member { ("key", .string(Base64.encode(key))) }

    private static func keysOnly(_ isSo: Bool) -> [Member] { isSo ? [("keys_only", .bool(true))] : [] }

    private static func operation(_ name: String, _ members: [Member]) -> JSONText {
        .object([(name, .object(members))])
    }

    private static func condition(_ key: [UInt8], at revision: Int64) -> JSONText {
        .object([
            Self.key(key), ("target", .string("MOD")), ("result", .string("EQUAL")),
            ("mod_revision", .string(String(revision))),
        ])
    }

    private static func range(_ key: [UInt8], _ withoutValue: Bool = false) -> JSONText {
        operation("request_range", [Self.key(key)] + keysOnly(withoutValue))
    }
}
