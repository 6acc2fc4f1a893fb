import AppleClientSecret
import Testing

@Suite struct WebAddressTests {
    @Test(arguments: [
        "https://api.example.com", "https://api.example.com:8443/base", "https://a.example/x;y=1/%20/~b@c",
        "https://example.com./", "https://xn--bcher-kva.example", "https://10.0.0.1:1", "https://a:65535",
        "https://A.Example",
        "https://[2001:db8::1]/", "https://[2001:DB8::1]:443", "https://[::ffff:192.0.2.1]",
        "https://[1:2:3:4:5:6:7:8]",
        "https://\(String(repeating: "a", count: 63)).example",
        "http://127.0.0.1:8090", "http://127.0.0.2", "http://127.255.255.255/", "http://localhost/a",
        "http://LOCALHOST",
        "http://[::1]:8200", "http://[0:0::0:1]", "http://[::0.0.0.1]",
    ])
    func secretsMayGoThere(text: String) {
        #expect(WebAddress(text)?.description == text)
    }

    @Test(arguments: [
        // Neither https nor this machine.
        "http://api.example.com", "http://10.0.0.1", "http://128.0.0.1", "http://0.0.0.0", "http://[::]",
        "http://[::2]",
        "http://[::ffff:127.0.0.1]", "http://127.example.com", "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "http://localhost.", "http://127.1", "http://127.0.0.1.", "http://127.0.0.256", "http://127.0.0.01",
        "http://0177.0.0.1",
        "http://127.0.0.+1", "http://2130706433", "ftp://127.0.0.1", "file:///etc/passwd",
        // User information.
        "http://127.0.0.1@example.com", "https://user:word@example.com", "https://user@example.com",
        "https://@example.com",
        "https://example.com\\@other.example",
        // No address, or no host.
        "", "example.com", "https:/x", "https:x", "https//x", "//x", "https://", "https:///x", "https://:443",
        "https://?a",
        " https://x", "https ://x", "https://\u{301}x",
        // Ports.
        "https://example.com:0", "https://example.com:65536", "https://example.com:", "https://example.com:-1",
        "https://example.com:+1", "https://example.com: 1", "https://example.com:1:2", "https://example.com:https",
        "https://example.com:\u{0661}",
        // Hosts.
        "https://exa mple.com", "https://exa\nmple.com", "https://ex%61mple.com", "https://a_b.example",
        "https://bücher.example",
        "https://\u{212A}ey.example", "https://.", "https://a..b", "https://.a", "https://a,b", "https://*.example.com",
        "https://\(String(repeating: "a", count: 64)).example", "https://\(String(repeating: "a.", count: 127))a.b",
        // IPv6.
        "https://::1", "https://[::1", "https://::1]", "https://[]", "https://[:]", "https://[:::]",
        "https://[1::2::3]",
        "https://[1:2:3:4:5:6:7]", "https://[1:2:3:4:5:6:7:8:9]", "https://[1:2:3:4::5:6:7:8]", "https://[::12345]",
        "https://[::g]", "https://[::+1]", "https://[::1%25eth0]", "https://[::1]x", "https://x[::1]",
        "https://[1.2.3.4]",
        "https://[::1.2.3]", "https://[::1.2.3.4:5]", "https://[::01.2.3.4]", "https://[[::1]]", "https://[::1]:",
        // What follows the host.
        "https://example.com/#a", "https://example.com#a", "https://example.com/a b", "https://example.com/a\"b",
        "https://example.com/a?b=c", "https://example.com?b", "https://example.com/ü", "https://example.com/a\\b",
        "https://example.com/\(String(repeating: "a", count: 2_048))",
    ])
    func secretsMayNotGoThere(text: String) {
        #expect(WebAddress(text) == nil)
    }

    @Test func theParts() throws {
        let address = try #require(WebAddress("HTTPS://[2001:DB8::A]:8443/Base/x?y=%20&z", allowingQuery: true))
        #expect(address.scheme == .https)
        #expect(address.host == "[2001:db8::a]")
        #expect(address.port == 8443)
        #expect(address.path == "/Base/x?y=%20&z")
        #expect(address.description == "https://[2001:DB8::A]:8443/Base/x?y=%20&z")
    }

    @Test(arguments: [
        ("https://A.Example:443/b", "https://a.example"), ("https://a.example:80", "https://a.example:80"),
        ("http://Localhost:80", "http://localhost"), ("http://localhost:443", "http://localhost:443"),
        ("https://[::1]:08443", "https://[::1]:8443"), ("https://a.", "https://a."),
    ])
    func oneServerHasOneOrigin(text: String, origin: String) {
        #expect(WebAddress(text)?.origin == origin)
    }

    @Test(arguments: [
        ["https://a.example/b?q", "https://A.Example:443/b?q", "HTTPS://a.example:0443/b?q"],
        ["http://localhost:8200/v1", "http://127.0.0.1:8200/v1", "http://[::1]:8200/v1"],
    ])
    func onePlaceHasOneIdentity(texts: [String]) {
        #expect(Set(texts.map { WebAddress($0, allowingQuery: true)?.identity }).count == 1)
        #expect(WebAddress(texts[0], allowingQuery: true)?.identity != nil)
    }

    @Test func differentPlacesHaveDifferentIdentities() {
        let texts = [
            "https://a.example/b", "https://a.example/B", "https://a.example:80/b", "https://a.example/b?q",
            "https://a.example/b%2Fc", "https://a.example/b/c", "https://a.example/b%252Fc", "https://b.example/b",
            "http://localhost/b", "https://localhost/b", "http://127.0.0.2/b", "http://localhost:443/b",
            "https://[2001:db8::a]/b", "https://[2001:db8::b]/b",
        ]
        #expect(Set(texts.compactMap { WebAddress($0, allowingQuery: true)?.identity }).count == texts.count)
    }
}
