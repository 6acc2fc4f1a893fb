import AppleClientSecret
package import Failures

extension HTTPAnswer {
    /// The same answer with only the OAuth error left in its body, if it is one. Other members, and other answers, may repeat the
    /// request. Code that needs more of the body must read it first.
    ///
    /// - Parameter redacted: removes secrets from a text.
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
