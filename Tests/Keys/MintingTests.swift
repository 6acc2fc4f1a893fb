import AppleClientSecret
import Digest
import Foundation
import Keys
import Model
import TestSupport
import Testing

@Suite struct MintingTests {
    private func text(_ minted: Secret) -> String {
        minted.token.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    @Test func aMintedSecretIsAsItWasAskedFor() throws {
        let directory = try TemporaryDirectory()
        let key = try freshKey(in: directory)
        let claims = Claims.sample()
        let minted = try key.mint(claims)
        #expect(minted.issued == SecretInfo(fingerprint: minted.token.fingerprint, claims: claims, signer: key.print))
        #expect(text(minted).hasPrefix(String(decoding: claims.signingInput, as: UTF8.self) + "."))
        try directory.write(text(minted), to: "token")
        let digest = try shell("sha256sum token", in: directory).prefix(16)
        #expect(minted.token.fingerprint.description == "sha256:\(digest)")
    }

    /// Of the two valid forms (r, s) and (r, n−s) the one with the smaller s; anybody can make the other one.
    @Test func aSecretHasOneFormAndTheOtherOneIsTheSame() throws {
        let directory = try TemporaryDirectory()
        let key = try freshKey(in: directory)
        for _ in 0..<16 {
            let minted = try key.mint(.sample())
            let parts = text(minted).split(separator: ".")
            let raw = try #require(Base64URL.decode(parts[2].utf8))
            #expect(raw[32] < 0x80, "s is greater than half of the group's order")
            let order = "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551"
            let s = raw[32...].map { String(format: "%02x", $0) }.joined()
            let other = try shell("python3 -c 'print(\"%064x\" % (0x\(order) - 0x\(s)))'", in: directory)
            let digits = Array(other.utf8.prefix(64))
            let altered = stride(from: 0, to: 64, by: 2).compactMap {
                UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
            }
            let signature = String(decoding: Base64URL.encode(Array(raw[..<32]) + altered), as: UTF8.self)
            let token = Token(Array("\(parts[0]).\(parts[1]).\(signature)".utf8))
            let found = try #require(TokenReader.read(token, keys: [key.publicKey]))
            #expect(found.signer == key.print, "it is as valid")
            #expect(found.fingerprint != minted.issued.fingerprint)
            #expect(found.isSame(as: minted.issued))
        }
    }

    @Test func randomClaimsComeBackAsTheyWere() throws {
        var random = SeededGenerator()
        let seed = random.seed
        let directory = try TemporaryDirectory()
        let key = try freshKey(in: directory)
        let other = try freshKey(in: directory, name: "other")
        let ids = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        let names = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")
        func text(of characters: [Character], count: Int) -> String {
            String((0..<count).map { _ in characters[Int.random(in: characters.indices, using: &random)] })
        }
        for _ in 0..<500 {
            let claims = Claims(
                issuer: try #require(TeamID(text(of: ids, count: 10))),
                keyID: try #require(KeyID(text(of: ids, count: 10))),
                subject: try #require(ClientID(text(of: names, count: Int.random(in: 1...255, using: &random)))),
                now: WallTime(secondsSinceEpoch: Int64.random(in: 0...253_402_300_799, using: &random)),
                lifetime: try #require(
                    Lifetime(seconds: Seconds(Int64.random(in: 60...15_776_700, using: &random)))))
            let minted = try key.mint(claims)
            #expect(
                TokenReader.read(minted.token, keys: [other.publicKey, key.publicKey]) == minted.issued, "\(seed)")
            let strange = TokenReader.read(minted.token, keys: [other.publicKey])
            #expect(strange != nil && strange?.signer == nil, "seed \(seed)")
            var damaged = minted.token.withBytes { $0 }
            let index = Int.random(in: damaged.indices, using: &random)
            damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            #expect(TokenReader.read(damaged, keys: [key.publicKey])?.signer == nil, "seed \(seed), byte \(index)")
        }
    }

    @Test func manyThreadsMayMintAtOnce() throws {
        let key = try freshKey(in: try TemporaryDirectory())
        let claims = Claims.sample()
        let failures = FailureCount()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<50 {
                let minted = try? key.mint(claims)
                let read = minted.flatMap { TokenReader.read($0.token, keys: [key.publicKey]) }
                if read == nil || read != minted?.issued { failures.add() }
            }
        }
        #expect(failures.count == 0)
    }

    private final class FailureCount: @unchecked Sendable {
        private let lock = NSLock()
        private(set) var count = 0

        func add() { lock.withLock { count += 1 } }
    }

    @Test func aPublicKeyComesBackFromItsBytes() throws {
        let directory = try TemporaryDirectory()
        let key = try freshKey(in: directory)
        try shell(
            "openssl pkey -in key -pubout -outform DER -out public.der && sha256sum public.der >sum", in: directory)
        let der = try Data(contentsOf: URL(fileURLWithPath: directory("public.der")))
        #expect(key.publicKey.spki == Array(der))
        #expect(key.print.description == String(try directory.read("sum").prefix(64)))
        #expect(PublicKey(spki: key.publicKey.spki)?.print == key.print)
        #expect(PublicKey(spki: key.publicKey.spki + [0]) == nil)
        #expect(PublicKey(spki: Array(key.publicKey.spki.dropLast())) == nil)
        #expect(PublicKey(spki: []) == nil)
        var offCurve = key.publicKey.spki
        offCurve[90] ^= 1
        #expect(PublicKey(spki: offCurve) == nil)
    }

    @Test func oneKeyHasOnePrintHoweverItsPointIsWritten() throws {
        let directory = try TemporaryDirectory()
        let key = try freshKey(in: directory)
        try shell(
            """
            openssl ec -in key -conv_form compressed -pubout -out compressed 2>/dev/null
            openssl pkey -in key -ec_conv_form compressed -out private 2>/dev/null
            """, in: directory)
        let compressed = try withFile(directory("compressed")) { try PublicKey(descriptor: $0, place: place) }
        #expect(compressed.print == key.print)
        #expect(try signingKey(directory("private")).print == key.print)
    }
}
