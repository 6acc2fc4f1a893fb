import AppleClientSecret
import Failures

/// The answer of a member that did not carry out a request: etcd's own error, or that of its gateway or of another program.
struct EtcdError {
    private let answer: HTTPAnswer
    /// Nil if it does not come from etcd.
    private let json: JSONValue?
    /// Of gRPC; nil if it does not come from etcd.
    private let code: Int64?

    init(_ answer: HTTPAnswer) {
        self.answer = answer
        json = try? JSONValue(answer.body, duplicates: .lastCounts)
        code = json?["code"]?.whole
    }

    /// Whether the login has expired, or is another member's.
    var isOfLogin: Bool { code == 16 }

    /// Whether another member may answer, or a later request.
    ///
    /// - Parameter secrets: those of the request, which its message must not show.
    func problem(hiding secrets: () -> [String]) -> MemberRequests.Problem {
        let text = String(decoding: answer.body.prefix(4_096), as: UTF8.self)
        let words = (json?["message"]?.text ?? json?["error"]?.text ?? text).lowercased()
        let detail = detail(hiding: secrets)
        return switch code {
        case 3 where words.contains("authentication failed"): .login(RoleFailure(.storeCredentialsRefused, detail))
        case 16: .refusal(RoleFailure(.storeCredentialsRefused, detail))
        // The request has no user, and etcd requires one.
        case 3 where words.contains("user name is empty"): .refusal(RoleFailure(.storeUserMissing, detail))
        // The login has a user, and etcd has its authentication off.
        case 9 where words.contains("authentication is not enabled"): .refusal(RoleFailure(.storeUserUnknown, detail))
        case 7: .forbidden
        case 8 where words.contains("space"): .write(RoleFailure(.storeOutOfSpace, detail))
        // Cancelled, unknown, deadline exceeded, exhausted, aborted, internal, unavailable: the member has a fault.
        case 1, 2, 4, 8, 10, 13, 14: .member(RoleFailure(.storeUnavailable, detail))
        case nil where answer.status == 400 && words.contains("commonname"):
            .refusal(RoleFailure(.storeCertificateRefused, "it has a CN, which the gateway does not accept"))
        case nil where [429, 500, 502, 503, 504].contains(answer.status):
            .member(RoleFailure(.storeUnavailable, detail))
        // The answer does not come from etcd.
        default: .member(RoleFailure(.storeAnswerUnexpected, detail))
        }
    }

    /// The status, and etcd's message. Only etcd's own words: another program at that address may quote the request.
    private func detail(hiding secrets: () -> [String]) -> String {
        let words = json?["message"]?.text ?? ""
        guard words.hasPrefix("etcdserver: ") else { return "it answered \(answer.status)" }
        return "it answered \(answer.status): \(EchoedSecrets(secrets()).words(words))"
    }
}
