/// The request whether Apple accepts a token of a kind, and the meaning of its answers.
package struct VerificationRules: Hashable, Sendable {
    /// The beginning of the address of Apple's server: a scheme and a host.
    package let server: String
    package let path: String
    package let request: Request
    package let answers: [Answer]

    package enum Request: Hashable, Sendable {
        /// A form with `client_id`, `client_secret` and these fields is posted.
        case form([Field])
        /// A GET with the token as `Authorization: Bearer`, and the first of its origins as `Origin`: Apple compares.
        case bearer
    }

    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    /// An answer that says something of the token. Any other one says nothing: it may come from something between here
    /// and Apple.
    package struct Answer: Hashable, Sendable {
        package let statuses: [Int]
        /// The request's other parts.
        package let body: Body
        package let isAcceptance: Bool
    }

    package enum Body: Hashable, Sendable {
        /// Anything, or nothing, but a web page: that is of a proxy which shows one with any status.
        case noPage
        /// The same, and no object with errors, as the Apple Music API has them.
        case noError
        /// An access token (RFC 6749, section 5.1).
        case accessToken
        /// A text under this name.
        case member(String)
        /// This error (RFC 6749, section 5.2).
        case error(String)
    }

    /// Apple's refusal, in words.
    package var refusal: String {
        for answer in answers where !answer.isAcceptance {
            if case .error(let code) = answer.body { return code }
        }
        return "401"
    }

    /// Apple judges the secret before the code, which was never issued. Without a `redirect_uri`: a wrong one is
    /// `invalid_client` too.
    static let signIn = VerificationRules(
        server: Claims.audience, path: "/auth/token",
        request: .form([
            Field(name: "grant_type", value: "authorization_code"),
            Field(name: "code", value: "made-up-to-try-the-client-secret"),
        ]),
        answers: [
            Answer(statuses: [400, 401], body: .error("invalid_grant"), isAcceptance: true),
            Answer(statuses: [400, 401], body: .error("invalid_client"), isAcceptance: false),
        ])

    /// An access token is the purpose of the secret, so this is full proof. It is valid for an hour and is thrown away.
    static let appleAds = VerificationRules(
        server: Claims.audience, path: "/auth/oauth2/token",
        request: .form([
            Field(name: "grant_type", value: "client_credentials"), Field(name: "scope", value: "searchadsorg"),
        ]),
        answers: [
            Answer(statuses: [200], body: .accessToken, isAcceptance: true),
            Answer(statuses: [400, 401], body: .error("invalid_client"), isAcceptance: false),
        ])

    static let music = VerificationRules(
        server: "https://api.music.apple.com", path: "/v1/test", request: .bearer,
        answers: [
            Answer(statuses: [200], body: .noError, isAcceptance: true),
            Answer(statuses: [401], body: .noPage, isAcceptance: false),
        ])

    /// The Maps Server API's own exchange of the token for an access token.
    static let maps = VerificationRules(
        server: "https://maps-api.apple.com", path: "/v1/token", request: .bearer,
        answers: [
            Answer(statuses: [200], body: .member("accessToken"), isAcceptance: true),
            Answer(statuses: [401], body: .noPage, isAcceptance: false),
        ])
}
