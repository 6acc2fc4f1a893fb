import AppleClientSecret
import Keys
import Model
import Outputs
import State
import Testing

/// Secrets and records as the tests need them. Nothing here looks at a signature, so there is none.
enum Samples {
    static let sha256: @Sendable ([UInt8]) -> [UInt8] = { SHA256.digest($0) }

    static func secret(_ number: Int = 0) throws -> Secret {
        let claims = Claims(
            issuer: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID("ABC123DEFG")),
            subject: try #require(ClientID("com.example.web")),
            issuedAt: WallTime(secondsSinceEpoch: 1_790_000_000 + Int64(number)),
            expiresAt: WallTime(secondsSinceEpoch: 1_797_776_060 + Int64(number)))
        let signature = Base64URL.encode((0..<64).map { UInt8(truncatingIfNeeded: number &+ $0) })
        let token = Token(claims.signingInput + [UInt8(ascii: ".")] + signature)
        return Secret(token: token, issued: SecretInfo(fingerprint: token.fingerprint, claims: claims, signer: nil))
    }

    static func kept(_ number: Int = 0) throws -> RecordedSecret {
        RecordedSecret(try secret(number), signerKey: [48, 89, 1, 2, 3, UInt8(number & 255)])
    }

    static func text(_ secret: Secret) -> String {
        secret.token.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    static func path(_ text: String) throws -> AbsolutePath {
        try #require(AbsolutePath(text))
    }
}
