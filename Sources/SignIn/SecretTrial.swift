package import AppleClientSecret

/// How a token is tried without a user, by the rules of its kind (``TokenTrial``).
package struct SecretTrial: Sendable {
    package let clientID: ClientID
    private let secret: Token

    /// In bytes: a token of ``Token/maximumLength`` and its client id, as JSON.
    package static let longestRequest = Token.maximumLength + 4_096

    package init(clientID: ClientID, secret: Token) {
        self.clientID = clientID
        self.secret = secret
    }

    /// Reads a request of ``request``; other members are passed over. Nil for anything else.
    package init?(request bytes: [UInt8], token: ([UInt8]) -> Token) {
        guard bytes.count <= Self.longestRequest, let text = try? SecretTrialText(parsing: bytes) else { return nil }
        let secret = Array(text.secret.jsonString.utf8)
        guard (1...Token.maximumLength).contains(secret.count), secret.allSatisfy(\.isASCIIVisible) else { return nil }
        self.init(clientID: text.clientID, secret: token(secret))
    }

    /// The request on the network program's standard input.
    package var request: [UInt8] { SecretTrialText(clientID: clientID, secret: TokenText(secret)).jsonText.bytes }

    /// Where and how it is asked about, and what the answers mean.
    package var rules: TokenTrial { clientID.kind.rules.trial }

    /// The form to post; nil where it goes into a header.
    package var form: String? {
        guard case .form(let fields) = rules.request else { return nil }
        return FormEncoding.encode(
            [("client_id", clientID.description), ("client_secret", text)] + fields.map { ($0.name, $0.value) })
    }

    /// The headers of a request without a form.
    package var headers: [String] {
        guard rules.request == .bearer else { return [] }
        return ["Authorization: Bearer \(text)"] + clientID.origins.prefix(1).map { "Origin: \($0)" }
    }

    private var text: String { secret.withBytes { String(decoding: $0, as: UTF8.self) } }

    /// What is to be hidden in whatever a server answers.
    package var hidden: [String] { [text] }
}

/// A trial as it is in JSON; the secret may be anything.
private struct SecretTrialText {
    let clientID: ClientID
    let secret: TokenText
}

extension SecretTrialText: JSONDocument {
    init(_ trial: Self?, _ members: inout JSONMembers) throws(JSONError) {
        clientID = try members("client_id", trial?.clientID)
        secret = try members("client_secret", trial?.secret)
    }
}
