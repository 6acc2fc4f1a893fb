import Linux
import Model
import Outputs
import TestSupport
import Testing

/// In which directory a file is replaced.
struct FileHomeTests {
    private let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        try scratch.folder("real")
        try scratch.link("link", to: "real")
        try scratch.link("web.jwt", to: "real/web.jwt")
        try scratch.link("deep.jwt", to: "link/none/deep/web.jwt")
    }

    private func path(_ name: String) throws -> AbsolutePath { try #require(AbsolutePath(scratch(name))) }

    private func home(_ name: String) throws -> AbsolutePath? {
        FileHome.directory(of: try path(name), as: .current())
    }

    @Test func isWhereLinksLead() throws {
        for name in ["real/web.jwt", "link/web.jwt", "web.jwt"] {
            #expect(try home(name) == path("real"), "\(name)")
        }
    }

    /// A private /tmp has nothing of what is in the machine's.
    @Test(arguments: [
        ("real/none/web.jwt", "real/none"), ("link/none/web.jwt", "real/none"), ("deep.jwt", "real/none/deep"),
    ])
    func isKnownWithoutTheDirectory(name: String, directory: String) throws {
        #expect(try home(name) == path(directory))
    }

    /// The output is refused for such a link.
    @Test(.needs(.root)) func isNotKnownBehindALinkOfAnotherUser() throws {
        try #require(run(["chown", "-h", "34567", scratch("link")]).status == 0)
        #expect(try home("link/web.jwt") == nil)
    }
}
