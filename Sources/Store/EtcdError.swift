import AppleClientSecret
import Failures

/// Why etcd did not carry out a request, by its error.
enum EtcdError: Hashable {
    /// The login has expired, or is another member's.
    case tokenInvalid
    case loginRefused
    /// The request has no user, and etcd requires one.
    case userMissing
    /// The login has a user, and etcd has its authentication off.
    case userUnknown
    /// etcd takes no certificate with a CN over the gateway.
    case certificateNamed
    case forbidden
    case outOfSpace
    /// This member cannot answer now; another one may.
    case unavailable
    /// The answer does not come from etcd.
    case unexpected

    init(_ answer: HTTPAnswer) {
        let text = String(decoding: answer.body.prefix(4_096), as: UTF8.self)
        let json = try? JSONValue(answer.body, duplicates: .lastCounts)
        let words = json?["message"]?.text ?? json?["error"]?.text ?? text
        func says(_ part: String) -> Bool { words.lowercased().contains(part) }
        self =
            switch json?["code"]?.whole {
            case 16: .tokenInvalid
            case 7: .forbidden
            case 8: says("space") ? .outOfSpace : .unavailable
            case 3 where says("authentication failed"): .loginRefused
            case 3 where says("user name is empty"): .userMissing
            case 9 where says("authentication is not enabled"): .userUnknown
            // Cancelled, unknown, deadline exceeded, aborted, internal, unavailable: the member has a fault.
            case 1, 2, 4, 10, 13, 14: .unavailable
            case nil where answer.status == 400 && says("commonname"): .certificateNamed
            case nil where [429, 500, 502, 503, 504].contains(answer.status): .unavailable
            default: .unexpected
            }
    }
}
