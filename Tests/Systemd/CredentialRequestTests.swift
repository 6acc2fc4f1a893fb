import Systemd
import Testing

/// What the address from which systemd asks for a credential says, and which addresses are refused.
@Suite struct CredentialRequestTests {
    private func read(_ text: String) -> CredentialRequest? {
        CredentialRequest(address: Array(text.utf8))
    }

    /// Addresses as systemd 252 was seen to bind them.
    @Test(
        arguments: [
            ("\0" + "65c73a164c7b3c8a/unit/app.service/sec", "app.service", nil),
            ("\0" + "ae10c26c4f55f810/unit/app@one.service/sec", "app@one.service", "app@.service"),
            ("\0" + "5179bb39893c2c44/unit/app@x\\x2dy.service/sec", "app@x\\x2dy.service", "app@.service"),
            ("\0" + "acfa7567b751a78d/unit/a\\x2db@q:r.service/sec", "a\\x2db@q:r.service", "a\\x2db@.service"),
            ("\0" + "0/unit/a@b@c.d.service/sec", "a@b@c.d.service", "a@.service"),
            ("\0" + "F/unit/a@.service/sec", "a@.service", nil),
            ("\0" + "f/unit/a.b.socket/sec", "a.b.socket", nil),
        ] as [(String, String, String?)])
    func unitAndTemplate(address: String, unit: String, template: String?) {
        let request = read(address)
        #expect(request?.unit == unit)
        #expect(request?.template == template)
        #expect(request?.name == "sec")
    }

    @Test(arguments: ["sec", "a.b", "apple-client_secret", "with space", "...", String(repeating: "n", count: 60)])
    func credentialNames(name: String) {
        #expect(read("\01f/unit/app.service/" + name)?.name == name)
    }

    @Test(arguments: [
        "", "\0", "/run/app.sock", "1f/unit/app.service/sec", "@1f/unit/app.service/sec", "\0app.service/sec",
        "\0/unit/app.service/sec", "\0xyz/unit/app.service/sec", "\01f/user/app.service/sec",
        "\01f/unit/app.service", "\01f/unit/app.service/", "\01f/unit//sec", "\01f//unit/app.service/sec",
        "\01f/unit/app.service/sec/", "\01f/unit/app.service//sec", "\01f/unit/app.service/a/b",
        "\01f/unit/../app.service/sec", "\01f/unit/app.service/..", "\01f/unit/app.service/.", "\01f/unit/app/sec",
        "\01f/unit/.service/sec", "\01f/unit/app./sec", "\01f/unit/@a.service/sec", "\01f/unit/a b.service/sec",
        "\01f/unit/app.service\0/sec", "\01f/unit/app.service/sec\0", "\01f/unit/app.service/a:b",
        "\01f/unit/app.service/a\nb", "\01f/unit/äpp.service/sec", "\01f/unit/app.service/sëc",
        "\0" + "0123456789abcdef0/unit/app.service/sec",
        "\01f/unit/" + String(repeating: "u", count: 300) + ".service/sec",
        "\01f/unit/app.service/" + String(repeating: "n", count: 256),
    ])
    func otherAddressesAreNone(address: String) {
        #expect(read(address) == nil)
    }

    @Test func bytesThatAreNoText() {
        #expect(
            CredentialRequest(address: [0, 0x31] + Array("/unit/a".utf8) + [0xFF] + Array(".service/s".utf8)) == nil)
        #expect(CredentialRequest(address: [UInt8](repeating: 0, count: 108)) == nil)
        #expect(CredentialRequest(address: [UInt8](repeating: 0xFF, count: 108)) == nil)
    }
}
