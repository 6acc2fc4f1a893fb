import AppleClientSecret

@testable import AppleAPI

/// A line with an identity token, and a key set below it: only what the known key has signed is accepted, and only by a set
/// that holds this key.
enum IdentityTarget {
    static func run(_ bytes: [UInt8]) throws {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        try checkToken(Array(line))
        try checkKeys(Array(bytes.dropFirst(line.count)))
    }

    private static func checkToken(_ bytes: [UInt8]) throws {
        let token: IdentityToken
        do throws(IdentityToken.Problem) {
            token = try IdentityToken(bytes)
        } catch {
            return try promise(!error.words.isEmpty, "refused without a word")
        }
        let keys = try known(KeySet(Array(IdentitySample.keys.utf8)))
        let client = try known(ClientID(IdentitySample.client))
        let now = WallTime(secondsSinceEpoch: IdentitySample.issuedAt)
        let problems = token.problems(
            keys: keys, client: client, nonce: IdentitySample.nonce, now: now)
        let isGenuine = bytes.starts(with: IdentitySample.signingInput.utf8 + [UInt8(ascii: ".")])
        try promise(!problems.isEmpty || isGenuine, "a token that nobody has signed is accepted")
        guard problems.isEmpty else { return }
        for (other, nonce, seconds) in [
            ("com.example.other", IdentitySample.nonce, 0), (IdentitySample.client, "another", 0),
            (IdentitySample.client, IdentitySample.nonce, 86_400),
            (IdentitySample.client, IdentitySample.nonce, -86_400),
        ] {
            let problems = token.problems(
                keys: keys, client: try known(ClientID(other)), nonce: nonce,
                now: WallTime(secondsSinceEpoch: IdentitySample.issuedAt + Int64(seconds)))
            try promise(problems.count == 1, "accepted for \(other), \(nonce) or \(seconds) s away")
        }
    }

    private static func checkKeys(_ bytes: [UInt8]) throws {
        guard let keys = KeySet(bytes) else { return }
        let token = try IdentityToken(Array((IdentitySample.signingInput + "." + IdentitySample.signature).utf8))
        let problems = token.problems(
            keys: keys, client: try known(ClientID(IdentitySample.client)), nonce: IdentitySample.nonce,
            now: WallTime(secondsSinceEpoch: IdentitySample.issuedAt))
        guard problems.isEmpty else { return }
        let moduli = try JSONValue(bytes)["keys"]?.elements?.compactMap { $0["n"]?.text } ?? []
        let modulus = Base64URL.decode(Array(IdentitySample.modulus.utf8))
        try promise(
            moduli.contains { Base64URL.decode(Array($0.utf8)) == modulus }, "accepted without the key that signed it")
    }
}
