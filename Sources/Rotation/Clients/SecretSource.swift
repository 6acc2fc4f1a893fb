import AppleClientSecret
import Model

/// The content of the source of a client without a private key: a file, or its places in the store.
struct SecretSource: Sendable {
    /// The result of the last read. A file has one observation.
    var reading: Reading<[SourceObservation]>
    private(set) var verdict: Verdict?

    /// How a source compares with the current secret.
    struct Verdict: Hashable, Sendable {
        let state: SourceView.State
        /// Why it is not received, in words; none of the source's bytes.
        let detail: String?
        /// Whether it holds a better secret than the current one, which the last good configuration does not receive.
        let isWithheld: Bool
        /// When the source came into this state, as shown to users.
        let since: WallTime
        /// The same by the boot clock, because the wall clock may have been set since.
        let began: BootTime
    }

    /// - Parameter former: the same source under the configuration before.
    init(_ former: SecretSource?, next: JobID) {
        reading = Reading(former?.reading.value, countsFrom: next)
        verdict = former?.verdict
    }

    /// Every secret that was seen in it.
    var secrets: [SecretInfo] {
        (reading.value ?? []).compactMap { if case .secret(let issued) = $0 { issued } else { nil } }
    }

    /// Records the result.
    mutating func judged(_ state: SourceView.State, _ detail: String?, isWithheld: Bool, at now: Now) {
        let same = verdict.flatMap { $0.state == state ? $0 : nil }
        verdict = Verdict(
            state: state, detail: detail, isWithheld: isWithheld, since: same?.since ?? now.wall,
            began: same?.began ?? now.boot)
    }
}
