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
        EtcdRequest(
            "/v3/auth/authenticate", .object([("name", .string(user)), ("password", .string(password))]))
    }

    /// Reads all keys at one revision, and from a member that has seen every write that ended before (linearizable).
    ///
    /// - Parameter withoutValues: to learn the revision of a value that is too long to be fetched.
    static func read(_ keys: [[UInt8]], withoutValues: Bool = false) -> EtcdRequest {
        EtcdRequest("/v3/kv/txn", .object([("success", .array(keys.map { range($0, withoutValues) }))]))
    }

    /// A value for a key that was last changed at `revision` (0: if there is none).
    struct Change {
        let key: [UInt8]
        let value: [UInt8]
        let revision: Int64
    }

    /// Puts all the values if each key was last changed at its revision, and reads them all otherwise.
    static func put(_ changes: [Change]) -> EtcdRequest {
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
        return EtcdRequest(
            "/v3/kv/txn",
            .object([
                ("compare", .array(changes.map { condition($0.key, at: $0.revision) })), ("success", .array(puts)),
                ("failure", .array(changes.map { range($0.key) })),
            ]))
    }

    /// Reads this many keys from `first` on and before `end`, in their order; those after it are left to later requests.
    static func page(
        from first: [UInt8], to end: [UInt8], limit: Int, withoutValues: Bool = false
    ) -> EtcdRequest {
        EtcdRequest(
            "/v3/kv/range",
            .object(
                [
                    ("key", .string(Base64.encode(first))), ("range_end", .string(Base64.encode(end))),
                    ("limit", .string(String(limit))),
                ] + (withoutValues ? [("keys_only", .bool(true))] : [])))
    }

    /// Removes the key if it was last changed at `revision`.
    static func delete(_ key: [UInt8], ifAt revision: Int64) -> EtcdRequest {
        let delete = JSONText.object([("request_delete_range", .object([("key", .string(Base64.encode(key)))]))])
        return EtcdRequest(
            "/v3/kv/txn", .object([("compare", .array([condition(key, at: revision)])), ("success", .array([delete]))]))
    }

    private static func condition(_ key: [UInt8], at revision: Int64) -> JSONText {
        .object([
            ("key", .string(Base64.encode(key))), ("target", .string("MOD")), ("result", .string("EQUAL")),
            ("mod_revision", .string(String(revision))),
        ])
    }

    /// A stream of what is changed in these keys from `revision` on.
    static func watch(_ keys: [[UInt8]], from revision: Int64) -> EtcdRequest {
        EtcdRequest(
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
