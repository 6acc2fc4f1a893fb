import AppleClientSecret

extension StatusDocument: Decodable {
    private enum Key: String, CodingKey {
        case version
        case state
        case reason
        case failure
        case startedAt = "started_at"
        case config
        case clients
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        version = try members.decode(String.self, forKey: .version)
        state = try members.decode(String.self, forKey: .state)
        reason = try members.decodeIfPresent(String.self, forKey: .reason)
        failure = try members.decodeIfPresent(Failure.self, forKey: .failure)
        startedAt = try members.moment(.startedAt)
        config = try members.decode(Config.self, forKey: .config)
        clients = try members.decode([Client].self, forKey: .clients)
    }
}

extension StatusDocument.Config: Decodable {
    private enum Key: String, CodingKey {
        case path
        case loadedAt = "loaded_at"
        case error
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        path = try members.decode(String.self, forKey: .path)
        loadedAt = try members.moment(.loadedAt)
        error = try members.decodeIfPresent(String.self, forKey: .error)
    }
}

extension StatusDocument.Client: Decodable {
    private enum Key: String, CodingKey {
        case name
        case clientID = "client_id"
        case teamID = "team_id"
        case keyID = "key_id"
        case state
        case reason
        case failure
        case issuedAt = "issued_at"
        case expiresAt = "expires_at"
        case deliveredExpiresAt = "delivered_expires_at"
        case renewAt = "renew_at"
        case fingerprint
        case renewals
        case consecutiveFailures = "consecutive_failures"
        case lastError = "last_error"
        case delivered
        case outputs
        case actions
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        name = try members.decode(String.self, forKey: .name)
        clientID = try members.decode(String.self, forKey: .clientID)
        teamID = try members.decode(String.self, forKey: .teamID)
        keyID = try members.decode(String.self, forKey: .keyID)
        state = try members.decode(String.self, forKey: .state)
        reason = try members.decodeIfPresent(String.self, forKey: .reason)
        failure = try members.decodeIfPresent(StatusDocument.Failure.self, forKey: .failure)
        issuedAt = try members.momentIfPresent(.issuedAt)
        expiresAt = try members.momentIfPresent(.expiresAt)
        deliveredExpiresAt = try members.momentIfPresent(.deliveredExpiresAt)
        renewAt = try members.momentIfPresent(.renewAt)
        fingerprint = try members.decodeIfPresent(String.self, forKey: .fingerprint)
        renewals = try members.decode(Int.self, forKey: .renewals)
        consecutiveFailures = try members.decode(Int.self, forKey: .consecutiveFailures)
        lastError = try members.decodeIfPresent(String.self, forKey: .lastError)
        delivered = try members.decode(Bool.self, forKey: .delivered)
        outputs = try members.decode([StatusDocument.Output].self, forKey: .outputs)
        actions = try members.decode([StatusDocument.Action].self, forKey: .actions)
    }
}

extension StatusDocument.Failure: Decodable {
    private enum Key: String, CodingKey {
        case code
        case message
        case since
        case nextAttempt = "next_attempt"
        case remedy
        case command
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        code = try members.decode(String.self, forKey: .code)
        message = try members.decode(String.self, forKey: .message)
        since = try members.moment(.since)
        nextAttempt = try members.momentIfPresent(.nextAttempt)
        remedy = try members.decodeIfPresent(String.self, forKey: .remedy)
        command = try members.decodeIfPresent(String.self, forKey: .command)
    }
}

extension StatusDocument.Output: Decodable {
    private enum Key: String, CodingKey {
        case path
        case format
        case state
        case writtenAt = "written_at"
        case error
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        path = try members.decode(String.self, forKey: .path)
        format = try members.decode(String.self, forKey: .format)
        state = try members.decode(String.self, forKey: .state)
        writtenAt = try members.momentIfPresent(.writtenAt)
        error = try members.decodeIfPresent(String.self, forKey: .error)
    }
}

extension StatusDocument.Action: Decodable {
    private enum Key: String, CodingKey {
        case action
        case state
        case ranAt = "ran_at"
        case error
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        action = try members.decode(String.self, forKey: .action)
        state = try members.decode(String.self, forKey: .state)
        ranAt = try members.momentIfPresent(.ranAt)
        error = try members.decodeIfPresent(String.self, forKey: .error)
    }
}
