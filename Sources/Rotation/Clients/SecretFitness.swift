package import AppleClientSecret
package import Model

/// The available evidence of whether a key signed a secret.
package enum SignatureEvidence: Hashable, Sendable {
    /// The key, as it can be read now.
    case key(KeyDigest)
    /// The key cannot be read. A secret is still believed if a configured key was seen to have signed it: published secrets
    /// stay while a key is unreadable.
    case remembered
    /// Nothing: a secret with the right ids may be forged.
    case none

    fileprivate func signature(of issued: SecretInfo) -> SecretForm.Expectation.Signature {
        switch self {
        case .none: .unchecked
        case _ where issued.signer == nil: .invalid
        case .remembered: .valid
        case .key(let digest): issued.signer == digest ? .valid : .ofAnotherKey
        }
    }
}

/// A key that may sign for a client, and the evidence of whether it did.
package typealias KnownKey = (entry: KeyConfiguration, evidence: SignatureEvidence)

/// Whether a client can use a secret, by the one judgement (``SecretForm``).
extension ClientConfiguration {
    /// The required form of this client's secret.
    ///
    /// - Parameter keys: those that may sign for it, in the order of preference.
    private func expectation(
        of issued: SecretInfo, _ keys: [KnownKey], signer: [KeyConfiguration] = []
    ) -> SecretForm.Expectation {
        SecretForm.Expectation(
            client: clientID,
            keys: keys.map { key in
                SecretForm.Expectation.Key(
                    team: key.entry.team, keyID: key.entry.keyID, signature: key.evidence.signature(of: issued))
            }, signer: signer.map { .init(team: $0.team, keyID: $0.keyID) })
    }

    /// Why the client cannot use it now; nil if it can.
    func objection(to issued: SecretInfo, keys: [KnownKey], _ timer: inout WakeTimer) -> Objection? {
        issued.form.objection(expectation(of: issued, keys)) { timer.reached($0) }
    }

    /// The rank, in the order of preference, of the key that has signed it. Throws the first reason why the client cannot use
    /// it, apart from its times.
    func rank(of issued: SecretInfo, keys: [KnownKey]) throws(Objection) -> Int {
        try issued.form.rank(expectation(of: issued, keys))
    }

    /// Whether its ids may be the right ones although the configuration now has others. With `verify`, Apple is asked before
    /// the client's secret is replaced.
    ///
    /// - Parameter current: the client's secret; nil if it is not known. Any secret may then be it.
    func mayHaveFormerIds(_ issued: SecretInfo, current: SecretInfo?) -> Bool {
        verify && current.map { $0.isSame(as: issued) } ?? true
    }

    /// Why Apple refuses it now; nil if it may accept it. It may also accept a secret of a key that was replaced since.
    ///
    /// - Parameters:
    ///   - signer: the key that has signed it, under each of its configured names; none if it is not configured.
    ///   - current: the client's secret as far as is known.
    ///   - clockIsTrusted: if false, nothing is judged by this machine's clock.
    func refusal(
        of issued: SecretInfo, keys: [KnownKey], signer: [KeyConfiguration], current: SecretInfo?,
        clockIsTrusted: Bool = true, _ timer: inout WakeTimer
    ) -> Objection? {
        let expectation = expectation(
            of: issued, keys, signer: mayHaveFormerIds(issued, current: current) ? [] : signer)
        let objection = issued.form.refusal(expectation) { timer.reached($0) }
        return objection?.isAboutTime == true && !clockIsTrusted ? nil : objection
    }

    /// Whether `issued` has the ids that are configured now.
    func names(_ issued: SecretInfo, key: KeyConfiguration) -> Bool {
        clientID.accepts(issued.client) && issued.team == key.team && issued.keyID == key.keyID
    }
}

extension ConfiguredClient {
    /// Whether `issued` has the ids that are configured now.
    func names(_ issued: SecretInfo) -> Bool {
        keys.contains { entry.names(issued, key: $0.entry) }
    }
}

/// Whether a client can use a secret, by the keys as they were last read.
extension Rotation {
    /// - Parameter otherwise: for a key that cannot be read.
    func knownKeys(_ client: ConfiguredClient, otherwise: SignatureEvidence = .remembered) -> [KnownKey] {
        client.keys.map { ($0.entry, keys.digest(of: $0.name).map(SignatureEvidence.key) ?? otherwise) }
    }

    /// Why the client cannot use it now; nil if it can.
    func objection(to issued: SecretInfo, for client: ConfiguredClient, _ timer: inout WakeTimer) -> Objection? {
        client.entry.objection(to: issued, keys: knownKeys(client), &timer)
    }

    /// Whether the client can use it now.
    func fits(_ issued: SecretInfo, _ client: ConfiguredClient, _ timer: inout WakeTimer) -> Bool {
        objection(to: issued, for: client, &timer) == nil
    }

    /// The rank, in the order of preference, of the key that has signed it, apart from its times; nil if it is not the
    /// client's.
    func rank(of issued: SecretInfo, _ client: ConfiguredClient) -> Int? {
        try? client.entry.rank(of: issued, keys: knownKeys(client))
    }

    /// Why Apple refuses it now; nil if it may accept it, or if the clock is not trusted and its times are the reason.
    func refusal(of issued: SecretInfo, for client: ConfiguredClient, _ timer: inout WakeTimer) -> Objection? {
        // While no key can be read, nothing is known of its signature.
        let isAnyRead = client.keys.contains { keys.digest(of: $0.name) != nil }
        return client.entry.refusal(
            of: issued, keys: knownKeys(client, otherwise: isAnyRead ? .remembered : .none),
            signer: configuration.names(ofSigner: issued) { [keys] in keys.digest(of: $0) },
            current: clients[client].secret.current,
            clockIsTrusted: clock.failure == nil, &timer)
    }

    /// Whether applications with this secret need another one at once: it is critical, it has expired, or Apple refuses it.
    func mustBeReplaced(_ held: SecretInfo, of client: ConfiguredClient, _ timer: inout WakeTimer) -> Bool {
        client.entry.isCritical(held, &timer) || refusal(of: held, for: client, &timer) != nil
    }
}

extension Configuration {
    /// The key that has signed a secret, under each of its configured names. None if it is not configured, or if the key
    /// whose ids the secret states cannot be read: that one may be it.
    ///
    /// - Parameter digest: which key a key's file holds; nil while it cannot be read.
    func names(ofSigner issued: SecretInfo, digest: (KeyName) -> KeyDigest?) -> [KeyConfiguration] {
        let isUnreadable = keys.contains { name, key in
            key.team == issued.team && key.keyID == issued.keyID && digest(name) == nil
        }
        guard let signer = issued.signer, !isUnreadable else { return [] }
        return keys.compactMap { digest($0.key) == signer ? $0.value : nil }
    }

    /// The same.
    ///
    /// - Parameter evidence: by key; one that is missing here cannot be read.
    func names(ofSigner issued: SecretInfo, _ evidence: [KeyName: SignatureEvidence]) -> [KeyConfiguration] {
        names(ofSigner: issued) { name in if case .key(let key)? = evidence[name] { key } else { nil } }
    }

    /// Why Apple refuses a secret because of its ids, apart from its times; nil if it does not. Also nil if only the signing
    /// key could tell, and that key is not known.
    ///
    /// - Parameters:
    ///   - client: the client of the secret; nil if it is not known.
    ///   - evidence: by key; one that is missing here cannot be read.
    package func refusalOfIds(
        of issued: SecretInfo, for client: ClientConfiguration?, _ evidence: [KeyName: SignatureEvidence]
    ) -> Objection? {
        guard issued.signer != nil, client?.mayHaveFormerIds(issued, current: nil) != true else { return nil }
        let signer = names(ofSigner: issued, evidence)
        let expected = SecretForm.Expectation(
            client: client?.clientID,
            keys: signer.map { .init(team: $0.team, keyID: $0.keyID, signature: .valid) },
            signer: signer.map { .init(team: $0.team, keyID: $0.keyID) })
        let objection = issued.form.refusal(expected) { _ in true }
        return objection?.isAboutTime == true ? nil : objection
    }
}
