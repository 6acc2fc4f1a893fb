import AppleClientSecret
import Digest
import Failures
import Foundation
import Linux
import Model
import Outputs
import TestSupport
import Testing

/// What programs find in outputs that the daemon refuses.
@Suite struct RefusedOutputTests {
    private let scratch: TemporaryDirectory
    private let publisher = Samples.publisher()

    init() throws { scratch = try TemporaryDirectory() }

    private func refused(_ file: FileSpec) throws -> [FileSlot: SlotContents] {
        #expect(throws: Failure.self) { try publisher.observe(file) }
        return try publisher.look(at: file)
    }

    @Test func whatIsNoFileOrNotOfItsFormatHoldsNoSecret() throws {
        let variable = "SECRET=\(Samples.text(try Samples.secret()))\n"
        try scratch.folder("directory")
        try scratch.write(variable + String(repeating: "#", count: 1 << 20), to: "long")
        try scratch.write(variable + "\0", to: "nul")
        try scratch.write("", to: "file")
        try #require(unsafe mkfifo(scratch("fifo"), 0o600) == 0)
        for name in ["directory", "long", "nul", "file/below", "fifo"] {
            #expect(try refused(Samples.file(scratch(name), .env)).isEmpty, "\(name)")
        }
    }

    @Test func whereTheWayIsRefusedWhatIsThereIsSeen() throws {
        let secret = try Samples.secret()
        let file = try Samples.file(scratch("open/web.jwt"))
        try scratch.folder("open")
        try scratch.write(Samples.text(secret), to: "open/web.jwt")
        try scratch.permit(0o777, "open")
        guard case .token(let token)? = try refused(file)[.whole] else {
            Issue.record("no token")
            return
        }
        #expect(token.fingerprint == secret.token.fingerprint)
        try scratch.write("something else", to: "open/web.jwt")
        guard case .foreign? = try refused(file)[.whole] else {
            Issue.record("not foreign")
            return
        }
    }

    @Test(.needs(.root)) func whatAStrangersLinkLeadsToIsSeen() throws {
        let secret = try Samples.secret()
        let file = try Samples.file(scratch("web.jwt"))
        try scratch.write(Samples.text(secret), to: "elsewhere")
        try scratch.link("web.jwt", to: scratch("elsewhere"))
        try #require(unsafe lchown(scratch("web.jwt"), 65_534, 65_534) == 0)
        guard case .token? = try refused(file)[.whole] else {
            Issue.record("no token")
            return
        }
        try FileManager.default.removeItem(atPath: scratch("elsewhere"))
        #expect(try refused(file).isEmpty)
    }

    @Test(.needs(.root)) func aKeyIsNotLookedAt() throws {
        let key = try Samples.path(scratch("key"))
        let file = try Samples.file(scratch("web.jwt"))
        let reserved = ReservedPaths()
        reserved.set(inputs: [key], outputs: [file.path], state: nil)
        let publisher = Samples.publisher(reserved)
        try scratch.write(Samples.text(try Samples.secret()), to: "key")
        reserved.note(key)
        try scratch.link("web.jwt", to: scratch("key"))
        try #require(unsafe lchown(scratch("web.jwt"), 65_534, 65_534) == 0)
        #expect(try publisher.look(at: file).isEmpty)
    }
}
