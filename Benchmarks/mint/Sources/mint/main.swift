// mint KEY SECONDS: mints client secrets with the library for so many seconds of processor time; prints how many it makes
// in a second of it, and the last one, so that its signature can be checked.
import AppleClientSecret
import CSigning
import Glibc

guard CommandLine.arguments.count == 3, let seconds = Double(CommandLine.arguments[2]),
    let context = signing_context(CommandLine.arguments[1]),
    let sha256 = EVP_MD_fetch(nil, "SHA256", nil),
    let issuer = TeamID("DEF123GHIJ"), let keyID = KeyID("ABC123DEFG"), let subject = ClientID("com.example.web"),
    let lifetime = Lifetime(seconds: 86_400)
else { fatalError("usage: mint KEY SECONDS") }

func digest(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
        precondition(EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, sha256, nil) == 1)
        count = 32
    }
}

/// The secret at a moment; each call makes another one.
func mint(_ now: WallTime) -> Token {
    let claims = Claims(issuer: issuer, keyID: keyID, subject: subject, now: now, lifetime: lifetime)
    let input = claims.signingInput
    let signature = [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
        precondition(sign_digest(context, digest(input), buffer.baseAddress) == 1)
        count = 64
    }
    return Token(input + [UInt8(ascii: ".")] + Base64URL.encode(signature), sha256: digest)
}

func processorTime() -> Double {
    Double(clock()) / Double(CLOCKS_PER_SEC)
}

let start = WallTime(secondsSinceEpoch: Int64(time(nil)))
var token = mint(start)
var count: Int64 = 0
let began = processorTime()
var spent = 0.0
while spent < seconds {
    for _ in 0..<500 {
        count += 1
        token = mint(start - Seconds(count))
    }
    spent = processorTime() - began
}
print(Int(Double(count) / spent), token.withBytes { String(decoding: $0, as: UTF8.self) })
