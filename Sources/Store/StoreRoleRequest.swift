package import AppleClientSecret

/// A request to the store role of the network program: one JSON object on one line.
package struct StoreRoleRequest: Sendable {
    package let request: StoreRequest
    /// The store that it is meant for: ``StoreConfiguration/place`` in the configuration that the daemon uses. The role's own file
    /// may have been edited since. Nil for the store of that file, whichever it is.
    package let store: String?

    /// In bytes, without the line's end.
    package static let longest = 1 << 19

    package init(_ request: StoreRequest, for store: String? = nil) {
        self.request = request
        self.store = store
    }

    /// Reads ``line``; nil for anything else.
    package init?(line bytes: [UInt8]) {
        guard bytes.count <= Self.longest, let request = try? StoreRoleRequest(parsing: bytes),
            request.request.isWithinLimits
        else { return nil }
        self = request
    }

    /// The request as it goes to the store role.
    package var line: [UInt8] { jsonText.bytes }
}

extension StoreRoleRequest: JSONDocument {
    package init(_ document: StoreRoleRequest?, _ members: inout JSONMembers) throws(JSONError) {
        request = try StoreRequest(document?.request, &members)
        store = try members.orAbsent("store", document?.store)
    }
}
