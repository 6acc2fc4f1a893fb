package import AppleClientSecret

/// A request to the push role of the network program: one JSON object on one line.
package struct PushRoleRequest: Sendable {
    package enum Verb: String, JSONString, Sendable {
        /// Write the secret, and read it back.
        case publish
        /// Read whether it is there.
        case read
        /// Deploy production again, unless it has the last secrets put there, or is about to. No secret goes with it.
        case redeploy
    }

    package let verb: Verb
    /// Nil if nothing is written or looked for.
    package let secret: Token?
    /// The secrets of other targets with members of the same document, which are written with it: by the targets' names.
    package let others: [String: Token]
    /// When the daemon last wrote to the place, or to one of those that are deployed together, by the API's clock. Its answers
    /// may be older. Nil if the time is not known.
    package let writtenAt: WallTime?
    /// Whether the daemon knows that it has written to the place before.
    package let wasWritten: Bool
    /// The deployment that was begun since, as far as is known.
    package let begun: BegunDeployment?
    /// Whether the API showed five minutes ago or earlier that production has what was last written.
    package let isDeployed: Bool
    /// Where the target and the others lead in the configuration that the daemon uses: ``PushTarget/place`` by their names. The
    /// role's own file may have been edited since. None if the request comes from no daemon.
    package var places: [String: String] = [:]

    /// In bytes: twice the largest document, which is 65,536 bytes at AWS.
    package static let longest = 131_072

    package init(
        _ verb: Verb, secret: Token?, others: [String: Token] = [:], writtenAt: WallTime? = nil,
        wasWritten: Bool = false, begun: BegunDeployment? = nil, isDeployed: Bool = false
    ) {
        self.isDeployed = isDeployed
        self.verb = verb
        self.secret = secret
        self.others = others
        self.writtenAt = writtenAt
        self.wasWritten = wasWritten
        self.begun = begun
    }

    /// The request without a secret.
    package static func redeploy(writtenAt: WallTime? = nil, begun: BegunDeployment? = nil) -> PushRoleRequest {
        PushRoleRequest(.redeploy, secret: nil, writtenAt: writtenAt, begun: begun)
    }

    /// Reads ``line``; nil for anything else, a secret that is no compact JWS included.
    package init?(line bytes: [UInt8]) {
        guard bytes.count <= Self.longest, let request = try? PushRoleRequest(parsing: bytes),
            request.verb == .redeploy || request.secret != nil,
            (request.others.values + [request.secret].compactMap(\.self)).allSatisfy({ $0.parsed != nil })
        else { return nil }
        self = request
    }

    /// The request as it goes to the push role.
    package var line: [UInt8] { jsonText.bytes }

    /// Whether these are the targets that the request means.
    package func means(_ targets: [PushTarget]) -> Bool {
        places.allSatisfy { name, place in targets.contains { $0.name == name && $0.place == place } }
    }
}

extension PushRoleRequest: JSONDocument {
    package init(_ request: PushRoleRequest?, _ members: inout JSONMembers) throws(JSONError) {
        verb = try members("do", request?.verb)
        secret = try members.orAbsent("client_secret", request?.secret)
        others = try members.unlessEmpty("others", request?.others) ?? [:]
        writtenAt = try members.orAbsent("written_at", (request?.writtenAt).map(UnixTime.init))?.moment
        wasWritten = try members.flag("was_written", request?.wasWritten)
        begun = try members.orAbsent("deployment", request?.begun)
        isDeployed = try members.flag("deployed", request?.isDeployed)
        places = try members.unlessEmpty("places", request?.places) ?? [:]
    }
}

/// A deployment that was begun for the pushed secrets: the list of an API may show it only later.
package struct BegunDeployment: Hashable, Sendable {
    /// The API's id of it.
    package let id: String
    /// By the API's clock.
    package let at: WallTime
}

extension BegunDeployment: JSONDocument {
    package init(_ begun: BegunDeployment?, _ members: inout JSONMembers) throws(JSONError) {
        let id = try members("id", begun?.id)
        self.init(id: id, at: try members("at", (begun?.at).map(UnixTime.init)).moment)
    }
}
