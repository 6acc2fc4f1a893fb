import AppleClientSecret
import Testing

@testable import StatusAPI

struct RequestDocumentsTests {
    /// Somebody may have pasted the wrong thing.
    @Test func aSecretInThePlaceOfANameIsNotQuoted() throws {
        let secret = String(repeating: "aB3-", count: 20)
        let refused = #expect(throws: Problem.self) { try RenewalBody(json: Array(#"{"\#(secret)":1}"#.utf8)) }
        #expect(
            refused?.detail.hasPrefix("the body is not a renewal: '(80 characters)': there is no such member") == true)
    }

    /// Whoever misspells two things learns first of the member that does not exist.
    @Test func anUnknownMemberIsNamedBeforeAWrongValue() throws {
        let refused = #expect(throws: Problem.self) {
            try RenewalBody(json: Array(#"{"clients":"web","due_witin":"3d"}"#.utf8))
        }
        #expect(refused?.detail.contains("'due_witin': there is no such member") == true)
    }
}
