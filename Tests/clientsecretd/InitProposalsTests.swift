import AppleClientSecret
import Glibc
import Linux
import Model
import TestSupport
import Testing

@testable import clientsecretd

/// What `init` takes for granted about a key file.
@Suite(.needs(.root)) struct InitProposalsTests {
    private static let stranger: UInt32 = 65_533

    /// A key of root's, and what a stranger has put into a directory of its own.
    private func withKeys(_ body: (_ own: AbsolutePath, _ link: AbsolutePath, _ copy: AbsolutePath) throws -> Void)
        throws
    {
        let directory = try TemporaryDirectory()
        func path(_ name: String) throws -> AbsolutePath { try #require(AbsolutePath(directory(name))) }
        try directory.write("key", to: "AuthKey_ABC123DEFG.p8")
        unsafe #expect(mkdir(directory("app"), 0o755) == 0)
        try directory.write("key", to: "app/AuthKey_ABC123DEFH.p8")
        unsafe #expect(symlink("../AuthKey_ABC123DEFG.p8", directory("app/AuthKey_ABC123DEFG.p8")) == 0)
        for name in ["app", "app/AuthKey_ABC123DEFH.p8", "app/AuthKey_ABC123DEFG.p8"] {
            unsafe #expect(lchown(directory(name), Self.stranger, Self.stranger) == 0)
        }
        try body(
            path("AuthKey_ABC123DEFG.p8"), path("app/AuthKey_ABC123DEFG.p8"), path("app/AuthKey_ABC123DEFH.p8"))
    }

    @Test func noKeyOfAStrangersIsOffered() throws {
        try withKeys { (own, link, copy) throws in
            let root = Identity(user: 0, group: 0)
            #expect(InitProposals.isOffered(own, root))
            #expect(!InitProposals.isOffered(link, root))
            #expect(!InitProposals.isOffered(copy, root))
        }
    }

    /// With its id known, the file of that id; else the only one, of which there may be copies.
    @Test func theKeyFileIsOfferedThatCanBeMeant() throws {
        let root = Identity(user: 0, group: 0)
        let directory = try TemporaryDirectory()
        for name in ["a", "b"] { unsafe #expect(mkdir(directory(name), 0o755) == 0) }
        let directories = try ["a", "b", "missing"].map { try #require(AbsolutePath(directory($0))) }
        func offered(_ id: KeyID? = nil) -> String? { InitProposals.key(id, in: directories, root)?.description }
        try directory.write("", to: "a/notes.p8")
        #expect(offered() == nil)
        try directory.write("key", to: "a/AuthKey_ABC123DEFG.p8")
        try directory.write("key", to: "b/AuthKey_ABC123DEFG.p8")
        #expect(offered() == directory("a/AuthKey_ABC123DEFG.p8"))
        try directory.write("key", to: "b/AuthKey_ABC123DEFH.p8")
        #expect(offered() == nil)
        #expect(offered(KeyID("ABC123DEFH")) == directory("b/AuthKey_ABC123DEFH.p8"))
        #expect(offered(KeyID("ABC123DEFX")) == nil)
        let rest = InitProposals.key(nil, in: directories, except: { $0.name == "AuthKey_ABC123DEFG.p8" }, root)
        #expect(rest?.description == directory("b/AuthKey_ABC123DEFH.p8"))
    }

    /// `check` asks the same: whether the service may read the file where it is, and sees it there.
    @Test(arguments: [
        (0o755, 0o640, false, true), (0o755, 0o640, true, false), (0o700, 0o640, false, false),
        (0o755, 0o600, false, false), (0o755, 0o644, false, false), (0o777, 0o640, false, false),
    ])
    func aKeyThatTheServiceCanReadStaysWhereItIs(directory: Int, mode: Int, isHidden: Bool, stays: Bool) throws {
        let service = try #require(try Accounts.user(named: "nobody"))
        let scratch = try TemporaryDirectory()
        try scratch.permit(0o755)
        try scratch.folder("keys", mode: directory)
        let key = try #require(AbsolutePath(try scratch.write("key", to: "keys/AuthKey_ABC123DEFG.p8", mode: mode)))
        try #require(unsafe chown(key.description, 0, service.primaryGroup) == 0)
        let placement = try KeyPlacement(of: key, for: service, isHidden: { _ in isHidden })
        #expect(placement.file == (stays ? key : AbsolutePath("/etc/clientsecretd/AuthKey_ABC123DEFG.p8")))
        #expect((placement.command == nil) == stays)
    }

    /// The stranger would decide which of root's files becomes the key.
    @Test func noKeyIsCopiedOverAStrangersLink() throws {
        let service = try #require(try Accounts.user(named: "nobody"))
        try withKeys { (own, link, copy) throws in
            #expect(try KeyPlacement(of: own, for: service).command != nil)
            #expect(try KeyPlacement(of: copy, for: service).command != nil)
            let error = #expect(throws: CommandFailure.self) { _ = try KeyPlacement(of: link, for: service) }
            #expect(error?.message.contains("link that another user can change") == true)
        }
    }
}
