import Failures
import Foundation
import TestSupport
import Testing

/// What holds of every row of the table of failures.
@Suite struct FailureCodeTests {
    @Test(arguments: FailureCode.allCases)
    func everyRowIsComplete(code: FailureCode) {
        #expect(code.rawValue.wholeMatch(of: #/[a-z0-9]+(_[a-z0-9]+)*/#) != nil)
        #expect(!code.words.isEmpty && !code.words.hasSuffix("."))
        // What comes after a semicolon is the remedy.
        #expect(!code.words.contains(";"))
        for subject in Self.subjects {
            guard let remedy = code.remedy(for: subject) else { continue }
            #expect(!remedy.description.isEmpty && !remedy.description.contains("\n"))
        }
    }

    /// For those who look a code up.
    @Test func eachIsOnThePageOfFailures() throws {
        let page = try String(contentsOfFile: repository + "/docs/failures.md", encoding: .utf8)
        for code in FailureCode.allCases where code.isReported {
            let row = "\n| `\(code.rawValue)` | \(code.words) |"
            let isThere = page.contains(row)
            #expect(isThere, "\(row)")
        }
    }

    @Test func wordsAreNotUsedTwice() {
        let all = FailureCode.allCases.map(\.words)
        #expect(Set(all).count == all.count)
    }

    /// A row without a remedy says so, and for whatever place.
    @Test func aRowWithoutARemedySaysSo() {
        let helpless = FailureCode.allCases.filter { code in
            Self.subjects.allSatisfy { code.remedy(for: $0) == nil }
        }
        #expect(
            Set(helpless) == [
                // Always with a remedy of its own, from whoever met it.
                .keyNotGuarded, .outsideSandbox, .unitCannotStart, .unitMismatch,
                // Reported under another code.
                .missing, .notGuarded,
                // The daemon has dealt with it, or nothing is wrong.
                .stateDamaged, .stateNewer, .actionInterrupted, .noOutputs,
                // No secret that is minted here is that long.
                .storeSecretTooLong,
            ])
    }

    private static let subjects = [
        FailureSubject(), FailureSubject(path: "/srv/web.jwt"), FailureSubject(path: "/"),
        FailureSubject(client: "web"), FailureSubject(action: "restart a.service"),
        FailureSubject(action: "exec /usr/bin/hook"), FailureSubject(credential: "key"),
        FailureSubject(name: "www-data", detail: "www"),
    ]
}
