import AppleAPI
import AppleClientSecret

/// The result of a request for tokens.
struct TokenReport {
    let tokens: TokenResponse
    let user: JSONValue?
    let showing: TokenOutputOptions
    private(set) var checks: [IdentityCheck] = []
    /// Another problem. It is printed after the tokens, because the caller has them nowhere else.
    private(set) var failure: CommandFailure?

    /// Writes the tokens to the file of `--save`, so that the other commands for tokens can read it.
    mutating func keep(in file: consuming TokenFile, refreshedWith used: String? = nil) {
        do throws(CommandFailure) { try file.write(tokens, refreshedWith: used) } catch { failure = error }
    }

    /// Checks the identity token that came from Apple itself and, if there is one, the one that came with the code. The latter
    /// went through the browser, in which any program may have replaced it.
    ///
    /// - Parameter isRequired: whether Apple has to send one.
    mutating func check(
        withCode: String?, client: ClientID, nonce: String?, isRequired: Bool, with program: NetworkProgramLauncher
    ) {
        do throws(CommandFailure) {
            if let withCode {
                checks.append(
                    try IdentityCheck(
                        withCode, "identity token with the code", client: client, nonce: nonce, with: program))
            }
            guard let token = tokens.identityToken else {
                guard isRequired else { return }
                throw CommandFailure(.failed, "Apple's answer has none")
            }
            let check = try IdentityCheck(token, client: client, nonce: nonce, with: program)
            if !checks.isEmpty { checks[0].compareSubject(with: check) }
            checks.append(check)
        } catch {
            failure = failure ?? CommandFailure(.failed, "no identity token was checked: \(error.message)")
        }
    }

    /// Prints it; throws when an identity token is not good or was not checked, or the tokens were not kept.
    func print(as answer: JSONFlag) throws {
        try answer.show(json.rendered, or: lines)
        if let failure { throw failure }
        if !checks.allSatisfy(\.isGood) { throw CommandFailure(.failed, "") }
    }

    private var lines: [String] {
        var lines = tokens.tokens.map { name, value in
            let life = name == "access_token" ? tokens.expiresIn.map { ", for \($0) seconds" } ?? "" : ""
            return "\(name): \(showing.shown(value))\(life)"
        }
        if let user {
            let name = ["firstName", "lastName"].compactMap { user["name"]?[$0]?.text }.joined(separator: " ")
            lines.append(
                "user: \(name), \(user["email"]?.text ?? "no address") (sent at the first sign-in only; not signed)")
        }
        // Both identity tokens state the same; the claims are shown of the one that came from Apple itself.
        return lines + checks.dropLast().flatMap(\.verdict) + (checks.last?.lines ?? [])
    }

    private var json: JSONText {
        .object([
            ("tokens", .object(tokens.tokens.map { ($0.name, .string(showing.shown($0.value))) })),
            ("expires_in", tokens.expiresIn.map { .number(Int($0)) } ?? .null),
            ("identity_tokens", .array(checks.map(\.json))), ("user", user?.jsonText ?? .null),
        ])
    }
}
