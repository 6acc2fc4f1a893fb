import AppleClientSecret
internal import Failures
import Model

/// The facts that decide a client's health, in the daemon and without one. The daemon's own work for the client and its
/// failures are not among them.
struct ClientFacts {
    let name: ClientName
    let entry: ClientConfiguration
    /// The keys that may sign for it, and the evidence of whether they did.
    let keys: [KnownKey]
    /// The client's secret as far as is known.
    let current: SecretInfo?
    /// A distrusted clock calls no secret bad because of its times, except an expired one. A clock that may be ahead does not
    /// even call an expired one bad.
    let clock: ClockTrust
    /// When this program was built.
    let builtAt: WallTime
    /// Whether a missing secret may still come, because it is being minted.
    var isUnderWay = false
    /// The findings in its outputs, in order, up to the first one that locks its applications out.
    private(set) var outputs: [(path: AbsolutePath, found: OutputFinding)] = []
    /// Of a client without outputs: the secret that its credential is; nil if it has none, or it is not known here.
    var served: SecretInfo?
    /// The secret last put into each place behind an API; nil if it is not known.
    var pushed: [SecretInfo?] = []
    /// The places that hold no secret that applications can use for long enough, as an API shows it.
    var emptyPlaces: [TargetName] = []
    /// Why the last request to a place behind an API failed; nil if none did.
    var failing: Failure?
    /// The secrets that each action's applications hold, as far as is known.
    var delivered: [SecretInfo] = []
    /// One of the secrets outside files that Apple refuses, not merely because it has expired; nil if there is none.
    private(set) var refused: (secret: SecretInfo, objection: Objection)?

    /// The worst of the secrets in a client's outputs, APIs and applications.
    enum Weakest {
        /// In this output applications find no secret, or one that Apple refuses.
        case lockedOut(AbsolutePath, OutputFinding)
        /// A place behind an API holds no secret that applications can use for long enough.
        case empty
        /// Apple refuses this secret, which is behind an API, a credential, or held by an application.
        case refused(SecretInfo, Objection)
        /// The secret that expires first.
        case held(SecretInfo)
        /// No secret is known, and not every place was read.
        case unknown
        /// No place could hold one.
        case nowhere
    }

    /// Records the content of its outputs.
    ///
    /// - Parameters:
    ///   - read: the content of an output's file, or why it could not be read; nil while it was not read.
    ///   - refusal: why Apple refuses a secret now; nil if it may accept it.
    mutating func findOutputs(
        reading read: (AbsolutePath) -> Result<[FileSlot: SlotObservation], Failure>?,
        refusal: (SecretInfo) -> Objection?
    ) {
        outputs = []
        for output in entry.outputs {
            let found = OutputFinding(read(output.path), output.slot, refusal: refusal)
            outputs.append((output.path, found))
            if found.locksOut(isUnderWay: isUnderWay) { return }
        }
    }

    /// Judges the secrets behind APIs, of the credential and of applications, once all of them are recorded.
    ///
    /// - Parameter refusal: why Apple refuses a secret now; nil if it may accept it.
    mutating func findRefused(_ refusal: (SecretInfo) -> Objection?) {
        refused = nil
        for secret in pushed.compactMap(\.self) + delivered + [served].compactMap(\.self) {
            switch refusal(secret) {
            // Health judges when the secrets expire.
            case nil, .expired: continue
            case let objection?:
                refused = (secret, objection)
                return
            }
        }
    }

    /// The output that locks its applications out; nil if none does.
    var lockout: (path: AbsolutePath, found: OutputFinding)? {
        outputs.last.flatMap { $0.found.locksOut(isUnderWay: isUnderWay) ? $0 : nil }
    }

    /// The secrets in its outputs, or its credential's.
    var published: [(place: String, secret: SecretInfo)] {
        outputs.compactMap { path, found in
            if case .held(let secret) = found { (place: Printable.name(path.description), secret: secret) } else { nil }
        } + (served.map { [(place: "the state directory", secret: $0)] } ?? [])
    }

    /// The worst of the secrets in its outputs, APIs and applications. An application that was never notified does not count: it
    /// can still start.
    var weakest: Weakest {
        if let lockout { return .lockedOut(lockout.path, lockout.found) }
        if !emptyPlaces.isEmpty { return .empty }
        if let refused { return .refused(refused.secret, refused.objection) }
        if let firstToExpire { return .held(firstToExpire) }
        return outputs.isEmpty && pushed.isEmpty ? .nowhere : .unknown
    }

    private var firstToExpire: SecretInfo? {
        (published.map(\.secret) + pushed.compactMap(\.self) + delivered).firstToExpire
    }

    /// The secret whose age is reported: the one that expires first, also if Apple refuses it or another one. Nil while a place
    /// holds none: the others may be newer, and no age may be reported twice.
    var aging: SecretInfo? {
        switch weakest {
        case .held, .refused: firstToExpire
        case .lockedOut, .empty, .unknown, .nowhere: nil
        }
    }
}

extension ClientConfiguration {
    /// The failure of a secret that has expired or is critical; nil for one that is neither.
    func shortLife(of secret: SecretInfo, _ name: ClientName, _ timer: inout WakeTimer) -> Failure? {
        let expiry = secret.expiresAt
        if timer.reached(expiry) {
            return Failure(.secretExpired, at: .client(name), detail: expiry.description)
        }
        return isCritical(secret, &timer)
            ? Failure(.secretExpiring, at: .client(name), detail: expiry.description) : nil
    }
}
