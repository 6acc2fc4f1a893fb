import Foundation
import Glibc
import TestSupport
import Testing

/// What is on the disk is what is reported, whoever changed it. That it takes no more than 5 s follows from the pauses
/// that the core's tests assert; what is waited for here comes within half of the minute after which the daemon would look
/// by itself.
@Suite(.waits) struct PathFaultTests {
    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// What the reason says of it.
        let words: String
        let harm: @Sendable (Sandbox) throws -> Void
        let fix: @Sendable (Sandbox) throws -> Void

        init(
            _ name: String, _ words: String, _ harm: @escaping @Sendable (Sandbox) throws -> Void,
            fix: @escaping @Sendable (Sandbox) throws -> Void
        ) {
            testDescription = name
            self.words = words
            self.harm = harm
            self.fix = fix
        }

        /// One that is undone by giving a file or directory its mode back.
        init(_ name: String, _ words: String, _ path: String, _ bad: Int, _ good: Int) {
            self.init(name, words) {
                try $0.directory.permit(bad, path)
            } fix: {
                try $0.directory.permit(good, path)
            }
        }

        /// One that is undone by moving a file or directory back.
        init(_ name: String, _ words: String, moving path: String) {
            self.init(name, words) {
                try $0.move(path, to: "away")
            } fix: {
                try $0.move("away", to: path)
            }
        }
    }

    private static let out = "way/out/web.jwt"
    private static let keyFile = "keys/AuthKey_ABC123DEFG.p8"

    static let changes = [
        Change("the key's mode", "every user can read the file", keyFile, 0o644, 0o600),
        Change("the key's directory", "the directory is writable by every user", "keys", 0o707, 0o700),
        Change("the key is gone", "there is no such key file", moving: keyFile),
        Change("the output's directory", "the directory is writable by its group", "way/out", 0o770, 0o700),
        Change("a directory above", "the directory is writable by every user", "way", 0o707, 0o700),
        Change("the output's directory is gone", "does not exist", moving: "way/out"),
        Change("a directory above is gone", "does not exist", moving: "way"),
        Change("a directory in its place", "it is a directory, not a file") { sandbox in
            try sandbox.remove(out)
            try sandbox.makeDirectory(out, mode: 0o755)
        } fix: { sandbox in
            try sandbox.remove(out)
        },
    ]

    private func start() throws -> Sandbox {
        let sandbox = try Sandbox()
        for name in ["way", "way/out"] { try sandbox.makeDirectory(name) }
        try sandbox.configure(sandbox.client("web", at: sandbox.directory(Self.out)) + "        mode: \"0640\"\n")
        try sandbox.start()
        return sandbox
    }

    private func state(_ sandbox: Sandbox) throws -> String? {
        try sandbox.status()["state"] as? String
    }

    @Test(arguments: changes) func anObstacleIsReportedForAsLongAsItIsThere(change: Change) throws {
        let sandbox = try start()
        let token = try sandbox.directory.read(Self.out)
        try change.harm(sandbox)
        try sandbox.soon(change.testDescription) {
            (try sandbox.status()["reason"] as? String)?.contains(change.words) == true
        }
        // What an application can still read is a matter of days, what it cannot one of now.
        let isThere = (try? sandbox.directory.read(Self.out)) == token
        #expect(try state(sandbox) == (isThere ? "degraded" : "critical"))
        try change.fix(sandbox)
        // Nothing is called good that is not.
        try sandbox.soon("the end of it") { try state(sandbox) == "ok" }
        #expect(try sandbox.directory.read(Self.out) == token)
    }
}
