import AppleClientSecret
package import Failures

extension HTTPAnswer {
    /// The same answer with nothing in its body but the error of OAuth that it is, if it is one: other members, and other
    /// answers, may be what was sent. Code that looks at the body for more than that has to do so before.
    ///
    /// - Parameter redacted: a text without what must not be shown.
    package func reduced(_ redacted: (String) -> String) -> HTTPAnswer {
        guard let error = OAuthError(self)?.redacted(redacted) else {
            let isEmpty = !isBodyLeftOut && body.allSatisfy(\.isASCIISpace)
            return HTTPAnswer(status: status, body: [], date: date, isBodyLeftOut: !isEmpty)
        }
        var members: [(String, JSONText)] = [("error", .string(error.code))]
        if let description = error.description { members.append(("error_description", .string(description))) }
        return HTTPAnswer(status: status, body: JSONText.object(members).bytes, date: date)
    }
}
