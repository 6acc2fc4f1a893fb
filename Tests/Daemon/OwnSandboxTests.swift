import Linux
import Model
import TestSupport
import Testing

@testable import Daemon

/// Where a file really is that the unit's sandbox may hide.
struct OwnSandboxTests {
    private let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        try scratch.folder("real")
        try scratch.link("link", to: "real")
        try scratch.link("web.jwt", to: "real/web.jwt")
    }

    private func path(_ name: String) throws -> AbsolutePath { try #require(AbsolutePath(scratch(name))) }

    private func home(_ name: String) throws -> AbsolutePath? {
        OwnSandbox.home(of: try path(name), as: .current())
    }

    @Test func isWhereLinksLead() throws {
        for name in ["real/web.jwt", "link/web.jwt", "web.jwt"] {
            #expect(try home(name) == path("real"), "\(name)")
        }
    }

    /// A private /tmp has nothing of what is in the machine's.
    @Test func isKnownWithoutTheDirectory() throws {
        #expect(try home("real/none/web.jwt") == path("real/none"))
        #expect(try home("link/none/web.jwt") == path("real/none"))
    }

    /// The output is refused for such a link.
    @Test(.needs(.root)) func isNotKnownBehindALinkOfAnotherUser() throws {
        try #require(run(["chown", "-h", "34567", scratch("link")]).status == 0)
        #expect(try home("link/web.jwt") == nil)
    }
}
