import AppleAPI
import AppleClientSecret
import Failures

/// An identity token that was checked with the key set of the server that is asked.
struct IdentityCheck {
    /// The token's name in reports.
    let subject: String
    let token: IdentityToken?
    private(set) var problems: [IdentityToken.Problem]

    var isGood: Bool { problems.isEmpty }

    /// Fetches the key set. A key that is not in it may be newer than an answer from a cache. Then the key set is fetched again,
    /// once.
    init(
        _ text: String, _ subject: String = "identity token", client: ClientID, nonce: String?,
        with program: NetworkProgramLauncher
    ) throws(CommandFailure) {
        self.subject = subject
        let now = WallTime.now
        let parsed: IdentityToken
        do throws(IdentityToken.Problem) {
            parsed = try IdentityToken(Array(text.utf8))
        } catch {
            token = nil
            problems = [error]
            return
        }
        token = parsed
        func found() throws(CommandFailure) -> [IdentityToken.Problem] {
            parsed.problems(
                keys: try Self.keys(program), client: client, nonce: nonce, now: now)
        }
        problems = try found()
        if case .unknownKey = problems.first { problems = try found() }
    }

    private static func keys(_ program: NetworkProgramLauncher) throws(CommandFailure) -> KeySet {
        switch try program.keys() {
        case .failure(let failure):
            throw CommandFailure(
                .failed, "could not fetch Apple's key set to check the token: \(failure.words(Printable.foreign))")
        case .success(let answer):
            guard answer.status == 200, let keys = KeySet(answer.body) else {
                throw CommandFailure(
                    .failed,
                    "the server answered \(answer.status) instead of the key set that identity tokens are checked with")
            }
            return keys
        }
    }

    /// Treats it as a problem that another identity token of the same sign-in, which is good, names another user.
    mutating func compareSubject(with other: IdentityCheck) {
        guard isGood, other.isGood, let own = token?.claims["sub"]?.text, let others = other.token?.claims["sub"]?.text,
            !own.hasSameBytes(as: others)
        else { return }
        problems.append(.subject)
    }

    /// Claims that are shown first, in this order.
    private static let order = [
        "sub", "email", "email_verified", "is_private_email", "iss", "aud", "iat", "exp", "nonce",
    ]

    /// The claims in the order in which they are shown. If the signature is not proved, there are none.
    private var claims: [(name: String, value: JSONValue)] {
        let isProved = !problems.contains { problem in
            switch problem {
            case .algorithm, .critical, .noKeyID, .unknownKey, .signature: true
            default: false
            }
        }
        guard let all = token?.claims, isProved else { return [] }
        let others = all.keys.filter { !Self.order.contains($0) }.sorted()
        return (Self.order + others).compactMap { name in all[name].map { (name, $0) } }
    }

    /// The findings.
    var verdict: [String] {
        isGood
            ? ["\(subject): good, signed by Apple's key \(token?.keyID ?? "")"]
            : problems.map { "\(subject): not accepted: \($0.words)" }
    }

    /// The findings, then the claims.
    var lines: [String] {
        verdict
            + claims.map { name, value in
                let time = ["iat", "exp", "nbf", "auth_time"].contains(name) ? token?.moment(name) : nil
                let padding = String(repeating: " ", count: max(18 - name.count, 1))
                return "  \(name)\(padding)\(value.plain)\(time.map { " (\($0))" } ?? "")"
            }
    }

    var json: JSONText {
        .object([
            ("valid", .bool(isGood)), ("flaws", .array(problems.map { .string($0.words) })),
            ("key_id", .text(token?.keyID)), ("claims", .object(claims.map { ($0.name, $0.value.jsonText) })),
        ])
    }
}

extension JSONValue {
    /// A text unquoted, anything else as JSON.
    var plain: String { text ?? jsonText.rendered }

    /// The same value for an answer.
    var jsonText: JSONText {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let number): .number(Int(number))
        case .fraction(let number): .string(String(number))
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.jsonText))
        case .object(let members):
            .object(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value.jsonText) })
        }
    }
}
