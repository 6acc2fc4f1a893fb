package import AppleClientSecret

/// A cause that a refused client secret may have, and the remedy. Apple says `invalid_client` for every cause. Some causes can be
/// found in the secret, the two clocks and the key, the others only at Apple.
package struct RefusalAdvice: Hashable, Sendable {
    /// Raw values are used in JSON.
    package enum Cause: String, Hashable, Sendable, CaseIterable {
        /// It is no client secret of the form that Apple takes.
        case form
        case expired
        /// This machine's clock and Apple's differ too much.
        case clock
        /// It expires later than Apple allows.
        case lifetime
        /// The key that the configuration names for the key id is not the one that belongs to it.
        case key
        case team
        case client
        /// A key or Services ID that was created at Apple a short while ago.
        case notKnownYet = "not_known_yet"
    }

    package let cause: Cause
    /// Whether it is a cause for certain: seen here, and not only possible.
    package let isCertain: Bool
    /// The evidence, or the place to look at, and the remedy; a sentence without its end.
    package let words: String

    /// The facts about a refused secret. The client id needs no comparison, because only the client's own secrets are verified.
    package struct Evidence {
        package let secret: CompactJWS
        /// The configured key, and whether it has signed the secret; nil for a secret that is in no configuration.
        package let key: SecretForm.Expectation.Key?
        /// The key id in the name of the key's file, `AuthKey_<KEYID>.p8`; nil if it is not called so.
        package let keyFileID: KeyID?
        package let now: WallTime
        /// Apple's clock; nil if the answer did not tell.
        package let serverTime: WallTime?
        /// The command that renews it.
        package let renewal: String

        package init(
            secret: CompactJWS, key: SecretForm.Expectation.Key?, keyFileID: KeyID?, now: WallTime,
            serverTime: WallTime?, renewal: String
        ) {
            self.secret = secret
            self.key = key
            self.keyFileID = keyFileID
            self.now = now
            self.serverTime = serverTime
            self.renewal = renewal
        }
    }

    /// Clocks that differ by more than this are worth a word: a request takes a few seconds.
    static let clockTolerance: Seconds = 30

    /// The causes that are certain. If none is, the possible ones, the likeliest first.
    package static func all(for evidence: Evidence) -> [RefusalAdvice] {
        guard let form = evidence.secret.form else {
            return evidence.secret.objections.map { RefusalAdvice($0, evidence) }
        }
        let found = seen(form, evidence)
        return found.isEmpty ? possible(form.claims, evidence) : found
    }

    /// The objections of the one judgement, by Apple's clock if that is known.
    private static func seen(_ form: SecretForm, _ evidence: Evidence) -> [RefusalAdvice] {
        let apple = evidence.serverTime ?? evidence.now
        var found: [Objection] = []
        if let objection = form.objectionToTimes(tolerance: 0, reached: { $0 <= apple }) { found.append(objection) }
        if let key = evidence.key {
            do throws(Objection) {
                _ = try form.rank(SecretForm.Expectation(keys: [key]))
            } catch {
                found.append(error)
                if case .otherTeam = error, form.claims.keyID != key.keyID {
                    found.append(.otherKeyID(form.claims.keyID))
                }
            }
        }
        return found.map { RefusalAdvice($0, evidence) }
    }

    /// The advice for a cause that was seen.
    private init(_ objection: Objection, _ evidence: Evidence) {
        var words = "it \(objection.words)"
        let cause: Cause
        var why = ""
        switch objection {
        case .issuedAhead, .notBefore:
            cause = .clock
            why =
                Self.difference(evidence).map { ": this machine's clock is \($0)" }
                ?? ": the clock that it was minted by was wrong"
            why += "; set the clock (see 'timedatectl'), then "
        case .expired(let moment):
            let difference = evidence.now < moment ? Self.difference(evidence) : nil
            cause = difference == nil ? .expired : .clock
            why = difference.map { ": this machine's clock is \($0); set it (see 'timedatectl'), then " } ?? ""
        case .tooLong, .tooLongAfterIssue, .milliseconds: cause = .lifetime
        case .otherTeam:
            cause = .team
            why = evidence.key.map { ", the configuration says \($0.team); " } ?? ""
        case .otherKeyID:
            cause = .key
            why = evidence.key.map { ", the configuration says \($0.keyID); " } ?? ""
        case .unsigned, .otherKey:
            cause = .key
            if let key = evidence.key { words = "the configured key \(key.keyID) has not signed it" }
        case .otherClient: cause = .client
        case .malformed, .duplicate, .algorithm, .derSignature, .signatureLength, .critical, .unstated, .mixup,
            .audience,
            .audienceList, .endsBeforeItBegins:
            cause = .form
        }
        self.init(cause: cause, isCertain: true, words: words + (why.isEmpty ? "; " : why) + evidence.renewal)
    }

    private init(cause: Cause, isCertain: Bool, words: String) {
        self.cause = cause
        self.isCertain = isCertain
        self.words = words
    }

    /// By how much this machine's clock is wrong; nil if it is not, or if Apple's is not known.
    private static func difference(_ evidence: Evidence) -> String? {
        guard let apple = evidence.serverTime else { return nil }
        let ahead = evidence.now - apple
        if ahead > clockTolerance { return "\(ahead.count) seconds ahead of Apple's" }
        let behind = apple - evidence.now
        return behind > clockTolerance ? "\(behind.count) seconds behind Apple's" : nil
    }

    private static func possible(_ claims: Claims, _ evidence: Evidence) -> [RefusalAdvice] {
        var places: [(Cause, String)] = []
        if let difference = difference(evidence) {
            places.append(
                (.clock, "this machine's clock is \(difference): set it (see 'timedatectl'), then \(evidence.renewal)"))
        }
        if let named = evidence.keyFileID, named != claims.keyID {
            // Files can be renamed, so it may well be the right one.
            places.append(
                (
                    .key,
                    "the key's file is called AuthKey_\(named).p8, but key_id says \(claims.keyID): the file of another "
                        + "key, or the id of another; correct the wrong one, then \(evidence.renewal)"
                ))
        }
        switch claims.subject.kind {
        case .signIn: places += ofSignIn(claims)
        case .appleAds: places += ofAppleAds(claims)
        case .music: places += ofMedia(claims, service: "Media Services")
        case .maps: places += ofMedia(claims, service: "Maps")
        }
        return places.map { RefusalAdvice(cause: $0, isCertain: false, words: $1) }
    }

    private static func ofSignIn(_ claims: Claims) -> [(Cause, String)] {
        [
            (
                .notKnownYet,
                "a key or Services ID that is new: Apple may not know it everywhere for up to 48 hours; try again later"
            ),
            (.key, wrongKey(claims, listedWith: "Sign in with Apple")),
            (
                .client,
                "the wrong client id: see under Identifiers whether \(claims.subject) is written so, and Sign in with "
                    + "Apple is configured for it with the App ID that the key is enabled for"
            ),
            (.team, wrongTeam(claims, "key and client id belong to")),
        ]
    }

    /// All three ids come from one page.
    private static func ofAppleAds(_ claims: Claims) -> [(Cause, String)] {
        [
            (
                .key,
                "the wrong key for its id, or a replaced one: see in Apple Ads under Account Settings, API, whether the public "
                    + "key there belongs to this key, and whether the key id is \(claims.keyID)"
            ),
            (.client, "the wrong client id: see on the same page whether it is \(claims.subject)"),
            (.team, "the wrong team id: see on the same page whether it is \(claims.issuer)"),
        ]
    }

    private static func ofMedia(_ claims: Claims, service: String) -> [(Cause, String)] {
        [
            (.notKnownYet, "a key that is new: Apple may not know it everywhere yet; try again later"),
            (.key, wrongKey(claims, listedWith: service)),
            (.team, wrongTeam(claims, "the key belongs to")),
        ]
    }

    private static func wrongKey(_ claims: Claims, listedWith service: String) -> String {
        "the wrong key for its id, or a revoked one: see under Keys whether \(claims.keyID) is listed with \(service), and "
            + "that the file is the one downloaded for this id"
    }

    private static func wrongTeam(_ claims: Claims, _ owned: String) -> String {
        "the wrong team: see under Membership whether \(claims.issuer) is the team that \(owned)"
    }
}
