import AppleClientSecret
import Digest
import Model
import Outputs
import State
import TestSupport
import Testing

/// Secrets and records as the tests need them. Nothing here looks at a signature, so there is none.
enum Samples {

    static func secret(_ number: Int = 0) throws -> Secret {
        let claims = Claims.sample(number)
        let token = Token(claims.sampleToken(number))
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
