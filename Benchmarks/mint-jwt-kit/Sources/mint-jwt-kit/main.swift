// mint-jwt-kit KEY SECONDS: what mint does, with jwt-kit.
import Foundation
import JWTKit

struct Payload: JWTPayload {
    let iss: IssuerClaim
    let iat: IssuedAtClaim
    let exp: ExpirationClaim
    let aud: AudienceClaim
    let sub: SubjectClaim

    func verify(using algorithm: some JWTAlgorithm) throws {}
}

guard CommandLine.arguments.count == 3, let seconds = Double(CommandLine.arguments[2]) else {
    fatalError("usage: mint-jwt-kit KEY SECONDS")
}
let pem = try String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8)
let keyID: JWKIdentifier = "ABC123DEFG"
let keys = await JWTKeyCollection().add(ecdsa: try ES256PrivateKey(pem: pem), kid: keyID)

func mint(_ now: Double) async throws -> String {
    try await keys.sign(
        Payload(
            iss: "DEF123GHIJ", iat: .init(value: Date(timeIntervalSince1970: now - 60)),
            exp: .init(value: Date(timeIntervalSince1970: now + 86_400)), aud: "https://appleid.apple.com",
            sub: "com.example.web"),
        kid: keyID)
}

func processorTime() -> Double {
    Double(clock()) / Double(CLOCKS_PER_SEC)
}

let start = Double(time(nil))
var token = try await mint(start)
var count = 0.0
let began = processorTime()
var spent = 0.0
while spent < seconds {
    for _ in 0..<500 {
        count += 1
        token = try await mint(start - count)
    }
    spent = processorTime() - began
}
print(Int(count / spent), token)
