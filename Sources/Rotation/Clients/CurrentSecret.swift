import AppleClientSecret
import Model

/// A client's current secret: the one that its outputs are to hold.
struct CurrentSecret: Sendable {
    private(set) var current: SecretInfo?
    /// Whether ``current`` was chosen among all secrets found. It then stays while it is usable, even if a file holds an
    /// older one that lasts longer.
    private(set) var hasChosen = false
    /// Why a secret is being minted.
    private var mintReason: MintReason?
    /// Whether a new secret was requested, whatever the age of the current one.
    private(set) var isForced = false
    /// Secrets minted since the daemon started.
    private(set) var renewals = 0

    /// Takes the secret kept in the state directory, unless one was found already.
    mutating func recall(_ secret: SecretInfo?) { current = current ?? secret }

    mutating func force(_ isForced: Bool) { self.isForced = isForced }

    mutating func choose(_ secret: SecretInfo) {
        current = secret
        hasChosen = true
    }

    mutating func beginMinting(_ reason: MintReason) { mintReason = reason }

    /// Records that a secret was minted, which ends every request for one. Returns why it was minted.
    mutating func minted() -> MintReason {
        defer { mintReason = nil }
        renewals += 1
        isForced = false
        return mintReason ?? .asked
    }

    func checkInvariants() -> [String] { hasChosen && current == nil ? ["no secret is chosen"] : [] }
}
