import Foundation
import TestSupport
import Testing

/// What `make site` renders.
@Suite(.waits, .needs(.site)) struct SiteTests {
    private func expectNothingWrong(_ script: String) throws {
        let found = try runToSuccess([
            "timeout", "10m", "/usr/bin/python3", "-B", repository + "/Tests/Support/site/" + script, site,
        ])
        #expect(found.contains(/(?m)^[1-9][0-9]+ pages/))
    }

    private let site = repository + "/.build/site"

    /// Nor does a page load anything from another host.
    @Test func everyLinkAndAnchorLeadsSomewhere() throws { try expectNothingWrong("find-dead-links.py") }

    /// In a headless Chromium, which also searches, and prefers light and dark.
    @Test(.needs(.night)) func pagesFitAPhoneAndCanBeSearched() throws { try expectNothingWrong("browse.py") }
}
