internal import Failures
package import Rotation

/// Where each part of the configuration is written, for problems found later.
package struct Positions: Sendable, Hashable {
    package enum Subject: Hashable, Sendable {
        /// The value of `file:` or `credential:`.
        case key(KeyName)
        /// The value of `passphrase_file:` or `passphrase_credential:`.
        case passphrase(KeyName)
        /// The client's name.
        case client(ClientName)
        /// The value of `path:`.
        case output(ClientName, AbsolutePath)
        /// The first value that names the path: of a key, passphrase, output, program, state directory, metrics file.
        case path(AbsolutePath)
        /// The first place that names the action.
        case action(ActionID)
        /// The first key or passphrase from this credential.
        case credential(String)
        /// The first `as:` with this user.
        case user(String)
        /// The first `group:` or `control_group:` with this group.
        case group(String)
        /// The value of an output's `group:`.
        case outputGroup(ClientName, AbsolutePath)
        case verify(ClientName)
        case servedCredential(ClientName)
        case controlGroup
        case stateDirectory
    }

    /// The start of the main file.
    package let start: Position
    private var places: [Subject: Position] = [:]

    init(start: Position) {
        self.start = start
    }

    package subscript(subject: Subject) -> Position? {
        places[subject]
    }

    /// Where a failure is reported: at the line that names the key, output, action, user or group; else at the affected
    /// client; else at the start of the configuration.
    package func position(of failure: Failure, client: ClientName? = nil) -> Position {
        let subject: Subject? =
            switch failure.place {
            case .key(let name): isOfPassphrase(failure.code) ? .passphrase(name) : .key(name)
            case .client(let name): .client(name)
            case .path(let path): client.map { isOfGroup(failure.code, $0, path) ?? .output($0, path) }
            case .action(let action): .action(action)
            case .credential(let name): .credential(name)
            case .named, .clock: nil
            }
        if let place = subject.flatMap({ places[$0] }) { return place }
        // A missing passphrase has no line, so the key's is used. A path is reported where it is first named.
        switch failure.place {
        case .key(let name): if let place = places[.key(name)] { return place }
        case .path(let path): if let place = places[.path(path)] { return place }
        case .named(let name):
            if failure.code == .unknownUser, let place = places[.user(name)] { return place }
            if let place = places[.group(name)] ?? places[.user(name)] { return place }
        case .client, .action, .credential, .clock: break
        }
        return client.flatMap { places[.client($0)] } ?? start
    }

    /// The failure as a line of `check` or `reload`.
    package func diagnostic(
        _ failure: Failure, client: ClientName? = nil, severity: Diagnostic.Severity = .error
    ) -> Diagnostic {
        Diagnostic(severity, at: position(of: failure, client: client), failure.sentence)
    }

    /// Records where something is written; only the first place is kept.
    mutating func note(_ subject: Subject, at position: Position) {
        if places[subject] == nil { places[subject] = position }
    }

    private func isOfGroup(_ code: Failure.Code, _ client: ClientName, _ path: AbsolutePath) -> Subject? {
        let subject = Subject.outputGroup(client, path)
        guard places[subject] != nil else { return nil }
        return code == .unknownGroup || code == .groupNotPermitted ? subject : nil
    }

    private func isOfPassphrase(_ code: Failure.Code) -> Bool {
        code == .keyWrongPassphrase || code == .passphraseUnusable
    }
}
