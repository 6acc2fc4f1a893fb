internal import AppleClientSecret
package import Failures

/// The token endpoint's answer to a good request (RFC 6749, section 5.1). Other members are passed over.
package struct TokenResponse: Sendable {
    package let accessToken: String
    /// Comes only with a code.
    package let refreshToken: String?
    package let identityToken: String?
    /// For how long the access token is valid, in seconds; nil if it does not say.
    package let expiresIn: Int64?

    /// Nil if the answer is no such response.
    package init?(_ answer: HTTPAnswer) {
        guard answer.status == 200, let json = try? JSONValue(answer.body),
            let accessToken = json["access_token"]?.text
        else { return nil }
        self.accessToken = accessToken
        refreshToken = json["refresh_token"]?.text
        identityToken = json["id_token"]?.text
        expiresIn = json["expires_in"]?.whole
    }
}
