import AppleAPI
import AppleClientSecret
import Failures

/// What Apple answers: whatever it is, a secret counts as accepted or refused only for the two errors that say so, what was
/// sent does not come back out, and what is handed on is read as it was written.
enum AppleAnswerTarget {
    private static let secret = OutputTarget.secret

    static func run(_ bytes: [UInt8]) throws {
        for status in [200, 302, 400, 401, 503] {
            let answer = HTTPAnswer(
                status: status, body: bytes, date: status == 400 ? WallTime(secondsSinceEpoch: 1_790_000_000) : nil)
            try checkVerdict(answer)
            if let response = TokenResponse(answer) {
                try promise(status == 200, "a response with status \(status)")
                let json = try JSONValue(bytes, duplicates: .lastCounts)
                try promise(json["access_token"] == .string(response.accessToken), "another access token")
            }
        }
        try checkRemoval(bytes)
        // What a network program hands on, or something else in its place.
        try checkReadBack(RequestResult.self, bytes)
        try checkReadBack(Verdict.self, bytes)
    }

    private static func checkVerdict(_ answer: HTTPAnswer) throws {
        let verdict = Verdict(.success(answer))
        let error = OAuthError(answer)
        if let error {
            try promise(!error.code.isEmpty && error.code.unicodeScalars.count <= 64, "a code that is none")
            try promise((error.description?.unicodeScalars.count ?? 0) <= 200, "a description that is not cut")
        }
        let said = (try? JSONValue(answer.body, duplicates: .lastCounts))?["error"]?.text
        let isJudged = answer.status == 400 || answer.status == 401
        switch verdict.outcome {
        case .accepted: try promise(isJudged && said == "invalid_grant", "accepted after \(answer.status)")
        case .refused: try promise(isJudged && said == "invalid_client", "refused after \(answer.status)")
        case .unknown:
            let isClear = said == "invalid_grant" || said == "invalid_client"
            try promise(!isJudged || !isClear, "nothing is known after a clear answer")
        }
        try checkReadBack(verdict)
    }

    /// The secret stands where the input says `SECRET`.
    private static func checkRemoval(_ bytes: [UInt8]) throws {
        let body = bytes.replacing(Array("SECRET".utf8), with: Array(secret.utf8))
        let answer = HTTPAnswer(status: 400, body: body, date: nil).reduced(EchoedSecrets([secret]).words)
        for part in [secret] + secret.split(separator: ".").map(String.init) {
            try promise(!answer.body.contains(Array(part.utf8)), "a part of what was sent is shown")
        }
    }
}

extension [UInt8] {
    func contains(_ part: [UInt8]) -> Bool { !ranges(of: part).isEmpty }
}
