import Foundation
import TestSupport
import Testing

/// Root at work on the configuration of a daemon that runs as another user, and not by a unit of the package.
@Suite(.waits, .needs(.root)) struct DaemonUserTests {
    /// Debian's user `daemon`, and its primary group.
    private static let user: UInt32 = 1

    /// - Parameter owner: of the key, which the daemon's group may read if it is root's.
    private func sandbox(keyOf owner: UInt32) throws -> Sandbox {
        let sandbox = try Sandbox(clients: "web")
        for name in ["state", "out"] { try sandbox.give(name, to: Self.user) }
        try sandbox.permit(sandbox.directory("keys"), 0o755)
        try sandbox.permit(sandbox.configuration, 0o644)
        try sandbox.permit(sandbox.key, owner == 0 ? 0o640 : 0o600)
        try sandbox.give("keys/AuthKey_ABC123DEFG.p8", to: owner, group: Self.user)
        return sandbox
    }

    @Test(arguments: [0, user]) func theDaemonsFilesAreNotTakenFromIt(keyOf owner: UInt32) throws {
        let sandbox = try sandbox(keyOf: owner)
        for flags in [[], ["--fix"]] {
            let check = try sandbox.command(["check"] + flags)
            #expect(check.status == 0 && !(check.output + check.complaints).contains("chmod"), "\(check)")
        }
        try sandbox.succeed("run", "--once")
        #expect(try sandbox.owner(of: "out/web.jwt") == [1, 1])
        #expect(try sandbox.owner(of: "state/lock") == [1, 1])
        try sandbox.succeed("health", "--offline")
        #expect(try sandbox.mode(of: "keys/AuthKey_ABC123DEFG.p8") == (owner == 0 ? 0o640 : 0o600))
        #expect(try sandbox.owner(of: "keys/AuthKey_ABC123DEFG.p8") == [Int(owner), 1])
    }

    /// With sudo root would judge that user's own configuration as root's.
    @Test func aUserGetsNoHintThatRootRunsTheLines() throws {
        let sandbox = try sandbox(keyOf: Self.user)
        // No command makes a user's directory where a reboot removes it, as it may below /tmp.
        let kept = try TemporaryDirectory(in: "/var/tmp")
        try runToSuccess(["chown", String(Self.user), kept.path])
        try sandbox.configure("  web: {client_id: com.example.web, outputs: [{path: \(kept("new/web.jwt"))}]}")
        try sandbox.permit(sandbox.configuration, 0o644)
        let user = String(Self.user)
        let check = try run(
            [
                "setpriv", "--reuid", user, "--regid", user, "--clear-groups", sandbox.binary, "check", "--config",
                sandbox.configuration,
            ], environment: ["NO_COLOR": "1"])
        #expect(check.status == 1 && check.complaints.contains("mkdir -m 0755"), "\(check)")
        #expect(!check.complaints.contains("runs the commands above"), "\(check)")
        #expect(try sandbox.command("check").complaints.contains("runs the commands above"))
    }
}
