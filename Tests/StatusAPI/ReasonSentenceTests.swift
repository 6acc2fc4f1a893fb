import AppleClientSecret
import Failures
import Model
import StatusAPI
import Testing

/// The one sentence in which every channel says why something is not well.
struct ReasonSentenceTests {
    @Test func sentences() throws {
        let web = try Samples.name("web")
        let env = try #require(AbsolutePath("/srv/app/.env"))
        let full = Failure(.diskFull, at: .path(env), cause: 28)
        let reasons = [
            Reason(failure: full, client: web, since: Samples.start, nextAttempt: Samples.start + 60),
            Reason(failure: full, client: nil, since: Samples.start, nextAttempt: nil),
            Reason(
                failure: Failure(.noSecret, at: .client(web)), client: web, since: Samples.start, nextAttempt: nil),
            Reason(
                failure: Failure(.noOutputs, at: .client(web)), client: web, since: Samples.start, nextAttempt: nil),
        ]
        let expected = [
            #"client "web": /srv/app/.env: the disk is full (no space left); since 2026-11-18T09:06:40Z; "#
                + "next attempt 2026-11-18T09:07:40Z; free some space (df -h --output /srv/app)",
            "/srv/app/.env: the disk is full (no space left); since 2026-11-18T09:06:40Z; free some space (df -h --output /srv/app)",
            #"client "web": there is no usable secret; since 2026-11-18T09:06:40Z; clientsecretd renew web"#,
            #"client "web": no file holds its secret, so only its record shows which one it is; since 2026-11-18T09:06:40Z"#,
        ]
        #expect(reasons.map { $0.sentence } == expected)
    }
}
