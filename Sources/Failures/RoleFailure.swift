package import AppleClientSecret

/// Why a role of the network program has not carried out a request. One role asks the store, and the other asks APIs.
package struct RoleFailure: Error, Hashable, Sendable {
    package let code: FailureCode
    /// The message of the other side or the network library, or the file concerned. It is on one line, without passwords, tokens
    /// or anything that could be a piece of a secret.
    package let detail: String?
    /// For how many seconds no request may be sent from now on, ``longestRetryAfter`` at most; nil if there is no pause.
    package private(set) var retryAfter: Int?
    /// The content that the API has just shown for the place; nil if that is not known.
    package private(set) var placeContent: PushPlaceContent?

    /// In seconds: a day. The bound is this program's own, because `Retry-After:` has none (RFC 9110, section 10.2.3). So an
    /// error in an answer delays no request for longer.
    package static let longestRetryAfter = 86_400

    package init(
        _ code: FailureCode, _ detail: String? = nil, retryAfter: Int? = nil, placeContent: PushPlaceContent? = nil
    ) {
        self.placeContent = placeContent
        self.code = code
        self.detail = detail
        self.retryAfter = Self.bounded(retryAfter)
    }

    private static func bounded(_ seconds: Int?) -> Int? { seconds.map { min(max($0, 0), longestRetryAfter) } }

    /// The same, and how long to wait.
    package func waiting(seconds: Int) -> RoleFailure {
        var failure = self
        failure.retryAfter = Self.bounded(seconds)
        return failure
    }

    /// The same, and the place's content.
    package func ofPlace(holding content: PushPlaceContent?) -> RoleFailure {
        var failure = self
        failure.placeContent = content
        return failure
    }

    /// The members of an answer that reports it.
    ///
    /// - Parameter prefix: the beginning of the names of the role's codes. It may report none of another part's failures.
    package init(
        _ failure: RoleFailure?, _ members: inout JSONMembers, codesOf prefix: String
    ) throws(JSONError) {
        let code = try members("code", failure?.code)
        guard code.rawValue.hasPrefix(prefix), !code.traits.contains(.ofDaemonOnly) else {
            throw .unexpected("expected \(FailureCode.expected)", at: "code")
        }
        let detail = try members.orNull("detail", failure?.detail)
        let retryAfter = try members.orNull("retry_after", failure?.retryAfter)
        self.init(
            code, detail, retryAfter: retryAfter,
            placeContent: try PushPlaceContent(failure?.placeContent, &members))
    }
}

extension FailureCode: JSONString {}
