import AppleAPI
import Testing

@Suite struct AuthorizationTests {
    @Test(arguments: [
        ("http://example.com/callback", "only return addresses with https"),
        ("https://localhost/callback", "domain name"), ("https://127.0.0.1/callback", "domain name"),
        ("https://[::1]/callback", "domain name"), ("https://example.com/callback#here", "fragment"),
        ("https://example.com/call back", "spaces"), ("https://example.com/callback", nil),
    ])
    func aReturnAddressIsOnesThatAppleTakes(address: String, words: String?) {
        let problem = AuthorizationRequest.problem(withRedirectURI: address)
        #expect(words.map { problem?.contains($0) == true } ?? (problem == nil), "\(problem ?? "none")")
    }

    @Test(arguments: ["", "   \n", "state=only", "code=%zz", "code=a&code=b", "two words"])
    func otherTextsAreNoAnswer(text: String) {
        #expect(AuthorizationResponse(text) == nil)
    }

    /// Some sites put a fragment behind the address that the browser ends at.
    @Test(arguments: [
        "code=c&state=s", "https://example.com/callback?code=c&state=s",
        "https://example.com/callback?code=c&state=s#_=_",
        "https://example.com/callback#code=c&state=s",
    ])
    func itComesBackAsAFormOrInAnAddress(text: String) throws {
        let response = try #require(AuthorizationResponse(text))
        #expect(try response.code.get() == "c" && response.state == "s")
    }
}
