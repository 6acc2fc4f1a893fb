import AppleClientSecret
import Foundation
import TestSupport
import Testing

@Suite struct CompactJWSTests {
    static let header = #"{"alg":"ES256","kid":"ABC123DEFG","typ":"JWT"}"#
    static let payload =
        #"{"iss":"DEF123GHIJ","iat":1795235400,"exp":1803011460,"aud":"https://appleid.apple.com","#
        + #""sub":"com.example.web"}"#

    /// A token of these parts with a signature of `signatureLength` bytes that nothing has made.
    static func token(
        header: String = header, payload: String = payload, signatureLength: Int = 64
    ) -> [UInt8] {
        let signature = [UInt8](repeating: 7, count: signatureLength)
        let parts = [Array(header.utf8), Array(payload.utf8), signature].map(Base64URL.encode)
        return Array(parts.joined(separator: [UInt8(ascii: ".")]))
    }

    @Test func oneOfOursIsTakenOver() throws {
        let jws = try CompactJWS(Self.token())
        let claims = try #require(jws.claims)
        #expect(claims.issuer.description == "DEF123GHIJ")
        #expect(claims.keyID.description == "ABC123DEFG")
        #expect(claims.subject.description == "com.example.web")
        #expect(claims.issuedAt == WallTime(secondsSinceEpoch: 1_795_235_400))
        #expect(claims.expiresAt == WallTime(secondsSinceEpoch: 1_803_011_460))
        #expect(jws.stated.otherClaimNames.isEmpty && jws.stated.otherHeaderNames.isEmpty)
    }

    @Test func otherNamesDoNoHarm() throws {
        let payload = Self.payload.replacingOccurrences(of: #"{"iss""#, with: #"{"jti":[{"a":null}],"iss""#)
        let header = Self.header.replacingOccurrences(of: "{", with: #"{ "x5t" : 1e9, "#)
        let jws = try CompactJWS(Self.token(header: header, payload: payload))
        #expect(jws.claims != nil)
        #expect(jws.stated.otherClaimNames == ["jti"])
        #expect(jws.stated.otherHeaderNames == ["x5t"])
    }

    @Test func aForeignTokenIsExplained() throws {
        let payload = #"{"iss":7,"iat":1795235400.75,"exp":"soon","aud":["a","b"],"nbf":-1}"#
        let stated = try CompactJWS(Self.token(header: #"{"alg":"RS256"}"#, payload: payload, signatureLength: 256))
            .stated
        #expect(stated.algorithm == .value("RS256"))
        #expect(stated.keyID == .missing)
        #expect(stated.type == .missing)
        #expect(stated.issuer == .unreadable)
        #expect(stated.subject == .missing)
        #expect(stated.audience == .value(["a", "b"]))
        #expect(stated.audienceIsList)
        #expect(stated.issuedAt == .value(.fractional(1_795_235_400.75)))
        #expect(stated.issuedAt.value?.moment == WallTime(secondsSinceEpoch: 1_795_235_400))
        #expect(stated.expiresAt == .unreadable)
        #expect(stated.otherClaimNames == ["nbf"])
    }

    @Test func aMomentBeyond64BitsIsNone() {
        #expect(NumericDate.fractional(1e300).moment == nil)
        #expect(NumericDate.fractional(-.infinity).moment == nil)
        #expect(NumericDate.fractional(.nan).moment == nil)
        #expect(NumericDate.fractional(-0.5).moment == WallTime(secondsSinceEpoch: -1))
    }

    @Test func bytesThatAreNoTokenAreRefused() {
        func parseError(_ bytes: [UInt8]) -> CompactJWS.ParseError? {
            do throws(CompactJWS.ParseError) {
                _ = try CompactJWS(bytes)
                return nil
            } catch {
                return error
            }
        }
        func parseError(_ text: String) -> CompactJWS.ParseError? { parseError(Array(text.utf8)) }
        let good = String(decoding: Self.token(), as: UTF8.self)
        #expect(parseError(good) == nil)
        #expect(parseError("") == .empty)
        #expect(parseError("eyJ") == .notThreeParts)
        #expect(parseError("e30.e30") == .notThreeParts)
        #expect(parseError(good + ".") == .notThreeParts)
        #expect(parseError(String(repeating: ".", count: 10_000)) == .notThreeParts)
        #expect(parseError(String(repeating: "A", count: Token.maximumLength + 1)) == .tooLong)
        #expect(parseError(good + "\n") == .notBase64URL(.signature))
        #expect(parseError(" " + good) == .notBase64URL(.header))
        #expect(parseError("e30.e30=.") == .notBase64URL(.payload))
        #expect(parseError("e30.e30.A") == .notBase64URL(.signature))
        #expect(parseError("e30.e30.AB") == .notBase64URL(.signature))
        #expect(parseError("..") == .notJSONObject(.header))
        #expect(parseError(Self.token(header: "[]")) == .notJSONObject(.header))
        #expect(parseError(Self.token(payload: "null")) == .notJSONObject(.payload))
        #expect(parseError(Self.token(payload: #"{"iat":NaN}"#)) == .notJSONObject(.payload))
        #expect(parseError(Self.token(payload: "{} {}")) == .notJSONObject(.payload))
        let bomb = #"{"a":"# + String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000) + "}"
        #expect(parseError(Self.token(payload: bomb)) == .notJSONObject(.payload))
        let notText: [UInt8] = Base64URL.encode([0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x3A, 0x31, 0x7D])
        #expect(parseError(Array("e30.".utf8) + notText + [UInt8(ascii: ".")]) == .notJSONObject(.payload))
    }

    private func candidates(_ text: String, upTo limit: Int = CompactJWS.usualLength) -> [String] {
        let bytes = Array(text.utf8)
        return CompactJWS.candidates(in: bytes, upTo: limit).map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    @Test func candidatesBeginAnywhereAndEndWithTheSignature() {
        let token = String(decoding: Self.token(), as: UTF8.self)
        let payload = String(token.dropFirst(token.split(separator: ".")[0].count + 1))
        #expect(candidates(token) == [token])
        #expect(candidates("a.b'\(token)x.y' \(token)") == [token, token])
        #expect(candidates("eyJ" + token) == ["eyJ" + token, token])
        // One that begins with the first one's payload has the wrong dots, and its end is checked by whoever reads it.
        #expect(candidates("\(token).\(token)").first == token)
        #expect(candidates(token + ".a.b") == [token])
        for text in [
            "", "e", "eyJ", "eyJ..", payload, String(repeating: "eyJ.", count: 100), String(token.dropLast()),
            token.replacing(".", with: " "),
        ] {
            #expect(candidates(text) == [], "\(text)")
        }
    }

    @Test func candidatesAreBounded() throws {
        let client = String(repeating: "a", count: ClientID.maximumLength)
        let token = Claims.sample(of: client, issuedAt: .min, expiresAt: .min).sampleToken()
        #expect(token.count == 646)
        #expect(CompactJWS.candidates(in: token, upTo: 646) == [token.indices])
        let end = ".a." + String(repeating: "a", count: 86)
        for limit in [646, Token.maximumLength] {
            let fill = limit - end.utf8.count - "eyJ".utf8.count
            #expect(candidates("eyJ" + String(repeating: "a", count: fill) + end, upTo: limit).count == 1)
            #expect(candidates("eyJ" + String(repeating: "a", count: fill + 1) + end, upTo: limit) == [])
        }
    }
}
