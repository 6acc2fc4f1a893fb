package import AppleClientSecret
import Digest

/// A request that asks whether Apple accepts a token. It needs no user and follows the rules of the token's kind
/// (``VerificationRules``).
package struct VerificationRequest: Sendable {
    package let clientID: ClientID
    private let secret: Token

    /// In bytes: a token of ``Token/maximumLength`` and its client id, as JSON.
    package static let longestRequest = Token.maximumLength + 4_096

    package init(clientID: ClientID, secret: Token) {
        self.clientID = clientID
        self.secret = secret
    }

    /// Reads ``bytes``; other members are passed over. Nil for anything else.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.longestRequest, let request = try? VerificationRequest(parsing: bytes),
            !request.text.isEmpty,
            request.text.utf8.allSatisfy(\.isASCIIVisible)
        else { return nil }
        self = request
    }

    /// The request on the network program's standard input.
    package var bytes: [UInt8] { jsonText.bytes }

    /// The rules of the request and of its answers.
    package var rules: VerificationRules { clientID.kind.rules.verification }

    /// The form to post; nil if it goes into a header.
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

    /// Texts to remove from the server's answers.
    package var hidden: [String] { [text] }
}

extension VerificationRequest: JSONDocument {
    package init(_ request: VerificationRequest?, _ members: inout JSONMembers) throws(JSONError) {
        clientID = try members("client_id", request?.clientID)
        secret = try members("client_secret", request?.secret)
    }
}
