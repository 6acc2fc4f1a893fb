package import AppleClientSecret
import Digest

/// An identity token (OpenID Connect Core, section 2): a JWT in which Apple names the user that has signed in.
///
/// The rules are:
/// - Only RS256, with a key that the key set has under the token's `kid`; a header with `crit` is refused.
/// - `iss` is ``issuer``, `aud` the client id and no list, `sub` a text.
/// - It has not expired, was not issued in the future, and is valid already (`nbf`, which Apple does not send), but for
///   ``clockTolerance``.
/// - `nonce` is the one that was sent, or its SHA-256 in hexadecimal or base64url, as native applications send it.
/// - Texts are the same when their bytes are: for Swift, letters that look alike may be equal.
/// - No name occurs twice in header or claims.
package struct IdentityToken: Sendable {
    /// The only issuer of identity tokens.
    package static let issuer = "https://appleid.apple.com"
    /// How far clocks may differ, in seconds.
    private static let clockTolerance: Seconds = 60

    /// `kid` of the header; nil if there is none.
    package let keyID: String?
    /// The token's claims, whether they are true or not.
    package let claims: [String: JSONValue]

    private let header: [String: JSONValue]
    private let signingInput: [UInt8]
    private let signature: [UInt8]

    /// Why a token is not accepted.
    package enum Problem: Error, Hashable, Sendable {
        /// It is no JWT; the problem, as the end of a sentence.
        case malformed(String)
        /// A name occurs twice.
        case duplicate(String)
        /// `alg`; nil if there is none.
        case algorithm(String?)
        /// A header parameter that must be understood and is not.
        case critical
        case noKeyID
        /// No key of the key set has the id.
        case unknownKey(String)
        case signature
        case issuer(String)
        case audience(String)
        /// `aud` is a list.
        case audienceList([String])
        case expired(WallTime)
        case issuedInTheFuture(WallTime)
        /// `nbf` is in the future.
        case notYetValid(WallTime)
        /// A claim that is missing or of another kind.
        case missing(String)
        case nonce
        /// Another user than another identity token of the same sign-in names.
        case subject
    }

    /// Parses a token, without judging it.
    package init(_ bytes: [UInt8]) throws(Problem) {
        guard bytes.count <= Token.maximumLength else {
            throw .malformed("it is longer than \(Token.maximumLength) bytes")
        }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed("it does not have three parts separated by dots") }
        header = try Self.object(parts[0], "header")
        claims = try Self.object(parts[1], "payload")
        guard let signature = Base64URL.decode(parts[2]) else { throw .malformed("its signature is not base64url") }
        self.signature = signature
        keyID = header["kid"]?.text
        signingInput = Array(bytes[..<parts[1].endIndex])
    }

    private static func object(_ part: ArraySlice<UInt8>, _ name: String) throws(Problem) -> [String: JSONValue] {
        guard let bytes = Base64URL.decode(part) else { throw .malformed("its \(name) is not base64url") }
        do throws(JSONError) {
            guard case .object(let members) = try JSONValue(bytes) else { throw .notJSON }
            return members
        } catch {
            if case .duplicate(let member) = error { throw .duplicate(member) }
            throw .malformed("its \(name) is not a JSON object")
        }
    }

    /// All that speaks against the token; empty for one that is good. If the signature is not proved, no claims are reported,
    /// because any user may have written them.
    ///
    /// - Parameter nonce: the nonce sent to Apple, or the text of which a digest was sent; nil if there was none.
    package func problems(keys: KeySet, client: ClientID, nonce: String?, now: WallTime) -> [Problem] {
        if let problem = signatureProblem(keys) { return [problem] }
        var problems: [Problem] = []
        switch claims["iss"]?.text {
        case let issuer? where issuer.hasSameBytes(as: Self.issuer): break
        case let issuer?: problems.append(.issuer(issuer))
        case nil: problems.append(.missing("iss"))
        }
        switch claims["aud"] {
        case .string(let one): if !one.hasSameBytes(as: client.description) { problems.append(.audience(one)) }
        case .array(let others): problems.append(.audienceList(others.map { $0.text ?? "" }))
        default: problems.append(.missing("aud"))
        }
        problems += timeProblems(now: now)
        if (claims["sub"]?.text ?? "").isEmpty { problems.append(.missing("sub")) }
        if let nonce,
            !Self.forms(of: nonce).contains(where: { claims["nonce"]?.text?.hasSameBytes(as: $0) == true })
        {
            problems.append(.nonce)
        }
        return problems
    }

    private func timeProblems(now: WallTime) -> [Problem] {
        let times: [(claim: String, isWrong: (WallTime) -> Bool, problem: (WallTime) -> Problem)] = [
            ("exp", { $0 + Self.clockTolerance <= now }, Problem.expired),
            ("iat", { $0 > now + Self.clockTolerance }, Problem.issuedInTheFuture),
            ("nbf", { $0 > now + Self.clockTolerance }, Problem.notYetValid),
        ]
        return times.compactMap { claim, isWrong, problem -> Problem? in
            if let moment = moment(claim) { return isWrong(moment) ? problem(moment) : nil }
            // Apple does not send "nbf".
            return claim == "nbf" && claims[claim] == nil ? nil : .missing(claim)
        }
    }

    /// The forms that the `nonce` in a token may have if this nonce was chosen. A caller that knows only its digest could not
    /// have chosen it.
    private static func forms(of nonce: String) -> [String] {
        let digest = SHA256.digest(Array(nonce.utf8))
        let hexadecimal = Hex.encode(digest)
        return [
            nonce, hexadecimal, Hex.encode(digest, capitals: true),
            String(decoding: Base64URL.encode(digest), as: UTF8.self),
        ]
    }

    private func signatureProblem(_ keys: KeySet) -> Problem? {
        guard header["alg"] == .string("RS256") else { return .algorithm(header["alg"]?.text) }
        guard header["crit"] == nil else { return .critical }
        guard let keyID else { return .noKeyID }
        guard keys.knows(keyID) else { return .unknownKey(keyID) }
        return keys.verifies(signature, of: signingInput, kid: keyID) ? nil : .signature
    }

    /// A time in whole seconds; nil for anything else.
    package func moment(_ claim: String) -> WallTime? {
        claims[claim]?.whole.map(WallTime.init(secondsSinceEpoch:))
    }
}

extension IdentityToken.Problem {
    /// The problem and its meaning, as a sentence without its end. Values come from the token: escape them.
    package var words: String {
        switch self {
        case .malformed(let what): "it is not an identity token: \(what)"
        case .duplicate(let name): "\"\(name)\" is in it twice, so that two readers may see different values"
        case .algorithm(let name):
            "it is signed with \(name ?? "no algorithm"), and Apple signs only with RS256: this proves nothing"
        case .critical: "its header has \"crit\", which Apple never sends"
        case .noKeyID: "its header does not name the key that signed it (kid)"
        case .unknownKey(let kid):
            "it is signed with the key \(kid), which is not in Apple's key set, even after fetching it again"
        case .signature: "the signature is wrong: it was changed on the way, or Apple never issued it"
        case .issuer(let issuer): "its issuer is \(issuer), not \(IdentityToken.issuer)"
        case .audience(let client): "it was issued for \(client), not for this client id"
        case .audienceList(let clients):
            "\"aud\" is a list in it (\(clients.joined(separator: ", "))), and Apple's are for one client id"
        case .expired(let moment): "it has expired, at \(moment)"
        case .issuedInTheFuture(let moment): "it was issued in the future, at \(moment); check this machine's clock"
        case .notYetValid(let moment): "it is not valid before \(moment) (nbf); check this machine's clock"
        case .missing(let name): "\"\(name)\" is missing in it, or has the wrong type"
        case .nonce:
            "its nonce is neither the one that was sent nor its SHA-256, as native applications send it: it belongs to "
                + "another sign-in, or is used a second time"
        case .subject:
            "it names another user (sub) than the identity token from Apple itself: it belongs to another sign-in"
        }
    }
}

extension String {
    /// Whether both have the same UTF-8 bytes. `==` takes canonically equivalent texts for the same, such as the letter K
    /// and the sign for kelvin.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}
