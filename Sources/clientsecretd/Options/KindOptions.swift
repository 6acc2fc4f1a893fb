import AppleClientSecret
import ArgumentParser

/// The purpose of a token, by flags.
struct KindOptions: ParsableArguments {
    @Option(
        name: .customLong("kind"),
        help: .value("kind", "What is signed: \(TokenKind.names) (default: sign_in)."),
        completion: .list(TokenKind.allCases.map(\.rawValue)), transform: Flags.kind)
    var givenKind: TokenKind?

    @Option(
        help: .value("id", "The Services ID or App ID; for apple_ads, the client id SEARCHADS.…."),
        transform: Flags.clientID)
    var clientID: ClientID?

    @Option(
        help: .value("origin", "For music (may be repeated) and maps: the origin of the web pages that may use it."),
        transform: Flags.origin)
    var origin: [WebOrigin] = []

    @Option(help: .value("scope", "For maps: mapkit_js or server_api."))
    var scope: String?

    var kind: TokenKind { givenKind ?? .signIn }

    /// Whether any of these flags is given.
    var isGiven: Bool { givenKind != nil || clientID != nil || !origin.isEmpty || scope != nil }

    private var subject: Result<ClientID, KindMisfit> {
        Result { () throws(KindMisfit) in try kind.client(clientID, origins: origin, scope: scope) }
    }

    /// The subject of the token.
    func client() throws -> ClientID {
        try subject.mapError { ValidationError($0.words) }.get()
    }

    /// The subject of the token, as far as these flags say.
    var known: ClientID? { try? subject.get() }

    /// Throws values that do not suit the kind; a missing client id may still be asked for.
    func validateKnown() throws {
        if case .failure(.noClientID) = subject { return }
        _ = try client()
    }

    func check(team: TeamID, keyID: KeyID) throws {
        if let misfit = kind.misfit(team: team, keyID: keyID) { throw ValidationError(misfit.words) }
    }
}
