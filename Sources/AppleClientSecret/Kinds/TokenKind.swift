/// A kind of token that Apple wants signed with ES256 by a key of one's own.
public enum TokenKind: String, Hashable, Sendable, CaseIterable, LosslessStringConvertible {
    /// A client secret of Sign in with Apple.
    case signIn = "sign_in"
    /// A client secret of the Apple Ads API.
    case appleAds = "apple_ads"
    /// A developer token of MusicKit and the Apple Music API.
    case music
    /// A token of MapKit JS and the Maps Server API.
    case maps

    /// The kind of this name in the configuration, such as `apple_ads`; nil for any other text.
    public init?(_ text: String) { self.init(rawValue: text) }

    /// Its name in the configuration.
    public var description: String { rawValue }

    /// The names of all kinds, used in messages.
    package static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// All that is particular to the kind.
    package var rules: Rules {
        switch self {
        case .signIn: .signIn
        case .appleAds: .appleAds
        case .music: .music
        case .maps: .maps
        }
    }

    /// Whether its tokens state a client (`sub`).
    package var hasClient: Bool { self == .signIn || self == .appleAds }

    /// The form of the ids of a team and a key.
    package enum IDForm: Hashable, Sendable {
        /// Ten characters A–Z and 0–9.
        case tenCharacters
        /// `SEARCHADS.` and an id for teams, a UUID for keys.
        case searchAds
    }
}

extension TokenKind: JSONString {
    package var jsonString: String { rawValue }

    package init?(jsonString text: String) { self.init(rawValue: text) }
}

extension TokenKind {
    /// One row of data, by which everything mints, recognises, judges and tries the tokens of a kind.
    ///
    /// The sources are Apple's "Creating a client secret", "Implementing OAuth for the Apple Search Ads API", "Generating
    /// developer tokens" (MusicKit) and "Creating a Maps token".
    package struct Rules: Sendable {
        /// The name of such a token in messages, after "a".
        package let words: String
        /// The form of the ids of its team and key.
        package let ids: IDForm
        /// `aud`, which is next to `sub`; nil if a token has no such claim.
        package let audience: String?
        /// Whether its header has `typ`.
        let hasType: Bool
        /// How it states the only web pages that may use it.
        package let origins: Origins
        /// The possible values of `scope`; none if there is no such claim.
        package let scopes: [String]
        /// The longest lifetime that is minted.
        package let longest: Seconds
        /// How late `exp` may be; nil if Apple names no limit.
        package let limit: Limit?
        /// How Apple is asked whether it accepts one.
        package let verification: VerificationRules

        /// How the claim `origin` is written.
        package enum Origins: Hashable, Sendable {
            case none
            case one
            case list
        }

        package enum Limit: Hashable, Sendable {
            /// After the moment at which Apple judges it.
            case ahead(Seconds)
            /// After `iat`.
            case afterIssue(Seconds)
        }
    }
}

extension TokenKind.Rules {
    static let signIn = TokenKind.Rules(
        words: "client secret", ids: .tenCharacters, audience: Claims.audience, hasType: true, origins: .none,
        scopes: [],
        longest: Lifetime.appleLimit - LifetimeLimits.margin, limit: .ahead(Lifetime.appleLimit), verification: .signIn)

    static let appleAds = TokenKind.Rules(
        words: "client secret of Apple Ads", ids: .searchAds, audience: Claims.audience, hasType: false, origins: .none,
        scopes: [], longest: LifetimeLimits.ofAds - LifetimeLimits.margin,
        limit: .afterIssue(LifetimeLimits.ofAds), verification: .appleAds)

    static let music = TokenKind.Rules(
        words: "developer token of MusicKit", ids: .tenCharacters, audience: nil, hasType: false, origins: .list,
        scopes: [], longest: Lifetime.appleLimit - LifetimeLimits.margin, limit: .ahead(Lifetime.appleLimit),
        verification: .music)

    static let maps = TokenKind.Rules(
        words: "token of MapKit", ids: .tenCharacters, audience: nil, hasType: true, origins: .one,
        scopes: ["mapkit_js", ClientID.scopeOfServers], longest: LifetimeLimits.ofMaps, limit: nil, verification: .maps)
}
