package import AppleClientSecret

/// Why a role of the network program, the one that asks the store or the one that asks APIs, has not done what it was asked.
package struct RoleFailure: Error, Hashable, Sendable {
    package let code: FailureCode
    /// What the other side or the library for the network said, or which file it is about: on one line, without a password, a
    /// token or anything that could be a piece of a secret.
    package let detail: String?
    /// For how many seconds nothing is to be asked from now on, ``longestRetryAfter`` at most; nil where there is no pause.
    package let retryAfter: Int?
    /// What the API has just shown that the place holds; nil where that is not known.
    package let placeContent: PushPlaceContent?

    /// In seconds: a day. The bound is this program's own, because `Retry-After:` has none (RFC 9110, section 10.2.3): a
    /// error in an answer keeps nothing from being asked for longer.
    package static let longestRetryAfter = 86_400

    package init(
        _ code: FailureCode, _ detail: String? = nil, retryAfter: Int? = nil, placeContent: PushPlaceContent? = nil
    ) {
        self.placeContent = placeContent
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter.map { min(max($0, 0), Self.longestRetryAfter) }
    }

    /// The same, and how long to wait.
    package func waiting(seconds: Int) -> RoleFailure {
        RoleFailure(code, detail, retryAfter: seconds, placeContent: placeContent)
    }

    /// The same, and what the place holds.
    package func ofPlace(holding content: PushPlaceContent?) -> RoleFailure {
        RoleFailure(code, detail, retryAfter: retryAfter, placeContent: content)
    }

    /// The members of an answer that reports it.
    ///
    /// - Parameter prefix: with what the names of the role's codes begin: it may report none of another part's failures.
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
