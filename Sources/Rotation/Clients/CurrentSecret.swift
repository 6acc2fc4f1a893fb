import AppleClientSecret
import Model

/// A client's current secret: the one that its outputs are to hold.
struct CurrentSecret: Sendable {
    private(set) var current: SecretInfo?
    /// Whether ``current`` was chosen among all secrets found; false while it only comes from the record. Once chosen, it stays
    /// while it is usable, even if an output holds an older one that lasts longer.
    private(set) var hasChosen = false
    /// Why a secret is being minted.
    private var mintReason: MintReason?
    /// Whether a new secret was requested, whatever the age of the current one.
    private(set) var isForced = false
    /// Whether the requested one is to be published without asking Apple.
    private(set) var skipsVerification = false

    /// Takes the secret kept in the state directory, unless one was found already.
    mutating func recall(_ secret: SecretInfo?) { current = current ?? secret }

    /// Has a new secret minted.
    ///
    /// - Parameter skipsVerification: whether to publish it without asking Apple.
    mutating func force(skipsVerification: Bool) {
        isForced = true
        self.skipsVerification = skipsVerification
    }

    /// Withdraws the request for a new secret.
    mutating func withdrawRequest() {
        isForced = false
        skipsVerification = false
    }

    mutating func choose(_ secret: SecretInfo) {
        current = secret
        hasChosen = true
    }

    mutating func beginMinting(_ reason: MintReason) { mintReason = reason }

    /// Records that a secret was minted, which ends every request for one. Returns why it was minted.
    mutating func minted() -> MintReason {
        defer { mintReason = nil }
        withdrawRequest()
        return mintReason ?? .asked
    }
}

extension Rotation {
    /// The secret that the outputs of a client should hold: the current one if it states the configured ids. One of another key
    /// id or team is kept until its replacement is minted and, if required, accepted by Apple. It may still work.
    func wantedSecret(_ client: ConfiguredClient) -> SecretInfo? {
        guard let current = clients[client].secret.current,
            client.names(current)
                || client.entry.clientID.accepts(current.client)
                    && (client.entry.mayHaveFormerIds(current, current: current) || pendingCandidate(client) != nil)
        else { return nil }
        return current
    }
}

/// The secrets that the credential socket serves.
///
/// - A client's secret is served once the client is settled, as its outputs would hold it: a starting application must
///   not get one that a restart of the daemon would lose. Until then the previous one is served, unless that was minted
///   for ids that are no longer configured.
extension Rotation {
    mutating func planCredential(_ client: ConfiguredClient) {
        guard client.entry.credential != nil else { return }
        let before = clients[client].credential
        let now = isSettled(client) ? wantedSecret(client) : before.flatMap { client.names($0) ? $0 : nil }
        guard now != before else { return }
        clients[client].credential = now
        served.append(ServedSecret(client: client.name, secret: now))
    }
}
