/// The subject of a token, in addition to the team: the client that it authenticates. A token without a client has its kind and
/// its restrictions instead.
///
/// Its text is:
/// - for Sign in with Apple the `sub`: a Services ID on the web, an App ID in native applications. Both are reverse-DNS
///   identifiers: ASCII letters, digits, `.`, `-` and, in old ones, `_`;
/// - for Apple Ads the `sub` too: `SEARCHADS.` and an id;
/// - for MusicKit `music:` and the origins, with commas between them;
/// - for MapKit `maps:`, the scope, `:` and the origin.
public struct ClientID: Hashable, Sendable, LosslessStringConvertible {
    /// The longest identifier that is accepted, in bytes: that of a DNS name (RFC 1035, section 2.3.4), more than any
    /// that Apple gives.
    public static let maximumLength = 255

    /// The text that names it, here and on other machines.
    public let description: String
    /// The `scope` of a Maps token that only servers may use; Apple tries no other one.
    package static let scopeOfServers = "server_api"

    /// The client whose identifier or other text this is; nil when it is empty, longer than ``maximumLength`` or has
    /// another character.
    public init?(_ text: some StringProtocol) {
        // A string, because code for any text is several times as slow.
        let text = String(text)
        if text.utf8.contains(UInt8(ascii: ":")) {
            guard let other = Self(restriction: text) else { return nil }
            self = other
        } else {
            self.init(identifier: text)
        }
    }

    /// The client with this identifier, the `sub` of its secrets; nil when it is empty, longer than ``maximumLength`` or
    /// has another character.
    public init?(identifier text: some StringProtocol) {
        let text = String(text)
        let allowed = text.utf8.allSatisfy { $0.isASCIIAlphanumeric || ".-_".utf8.contains($0) }
        guard allowed, !text.isEmpty, text.utf8.count <= Self.maximumLength else { return nil }
        description = text
    }

    private init(checked text: String) {
        description = text
    }

    /// The kind of its tokens.
    public var kind: TokenKind {
        if description.hasPrefix("music:") { return .music }
        if description.hasPrefix("maps:") { return .maps }
        return isSearchAdsID(description) ? .appleAds : .signIn
    }

    /// MusicKit, only on web pages of these origins; on all pages if there is none.
    public static func music(origins: some Sequence<WebOrigin> = []) -> ClientID {
        let texts = Set(origins).sorted().map(\.description)
        return ClientID(checked: "music:" + texts.joined(separator: ","))
    }

    /// MapKit, only on web pages of this origin, and only for this `scope`; no restriction if they are nil. Nil for a scope that
    /// Apple does not know.
    public static func maps(origin: WebOrigin? = nil, scope: String? = nil) -> ClientID? {
        if let scope, !TokenKind.maps.rules.scopes.contains(scope) { return nil }
        return ClientID(checked: "maps:\(scope ?? ""):\(origin?.description ?? "")")
    }

    private init?(restriction text: String) {
        if text.hasPrefix("music:") {
            let words = text.dropFirst("music:".count).split(separator: ",", omittingEmptySubsequences: false)
            let origins = words.compactMap { WebOrigin($0) }
            guard origins.count <= WebOrigin.maximumCount else { return nil }
            self = .music(origins: origins)
        } else if text.hasPrefix("maps:") {
            let words = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard words.count == 3,
                let maps = Self.maps(
                    origin: WebOrigin(words[2]), scope: words[1].isEmpty ? nil : String(words[1]))
            else { return nil }
            self = maps
        } else {
            return nil
        }
        // Another text for the same would be another place in the store.
        guard description == text else { return nil }
    }

    /// The `sub` of its tokens; nil if they have none.
    public var identifier: String? { kind.hasClient ? description : nil }

    /// The origins of the only web pages that may use its tokens, sorted.
    public var origins: [WebOrigin] {
        switch kind {
        case .signIn, .appleAds: []
        case .music: description.dropFirst("music:".count).split(separator: ",").compactMap { WebOrigin($0) }
        case .maps: WebOrigin(partsOfMaps[2]).map { [$0] } ?? []
        }
    }

    /// The `scope` of its tokens; nil if they have none.
    public var scope: String? {
        kind != .maps || partsOfMaps[1].isEmpty ? nil : String(partsOfMaps[1])
    }

    private var partsOfMaps: [Substring] {
        description.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    }

    /// Whether only the header's `typ` distinguishes MusicKit's tokens from MapKit's: Apple accepts either for both.
    package var isUnrestricted: Bool { !kind.hasClient && origins.isEmpty && scope == nil }

    /// Whether a token that states `stated` is one for this client.
    package func accepts(_ stated: ClientID) -> Bool {
        self == stated || isUnrestricted && stated.isUnrestricted
    }

    /// Whether Apple can be asked about its tokens. Nothing at Apple tries one for web pages.
    package var canBeTried: Bool {
        kind != .maps || scope == Self.scopeOfServers || isUnrestricted
    }

    /// For messages: the kind of its tokens, and their subject.
    package var words: String {
        if let identifier { return "client id \(identifier)" }
        let restrictions = (scope.map { ["scope \($0)"] } ?? []) + origins.map(\.description)
        return "\(kind) (\(restrictions.isEmpty ? "no origin" : restrictions.joined(separator: ", ")))"
    }
}
