import AppleClientSecret
import Daemon
import Foundation
import Keys
import Linux
import Model
import TestSupport
import Testing

@testable import clientsecretd

/// What can be seen of a process that has a client secret.
@Suite struct RunningProcessTests {
    private func secret(of client: String = "com.example.variable") -> String { Claims.sample(of: client).sampleText }

    /// In its variables, its credentials, and an open file, which was replaced since.
    @Test func itsSecretsAreFound() throws {
        let directory = try TemporaryDirectory()
        let open = secret(of: "com.example.open")
        try directory.write(open, to: "open.jwt")
        try directory.folder("credentials")
        try directory.write(secret(of: "com.example.credential"), to: "credentials/apple")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sleep")
        process.arguments = ["600"]
        process.environment = [
            "A": "eyJ.no.secret", "SECRET": secret(), "CREDENTIALS_DIRECTORY": directory("credentials"),
        ]
        process.standardInput = FileHandle(forReadingAtPath: directory("open.jwt"))
        try process.run()
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try FileManager.default.removeItem(atPath: directory("open.jwt"))
        // Until its program is executed it has the environment of this one, and for a moment none.
        let environ = "/proc/\(process.processIdentifier)/environ"
        while try !String(contentsOfFile: environ, encoding: .utf8).contains("A=eyJ.no.secret") { usleep(1_000) }
        let held = RunningProcess(process.processIdentifier).secrets
        #expect(
            held.map(\.client) == ["com.example.variable", "com.example.credential", "com.example.open"])
        #expect(held.map(\.place).prefix(2) == [.variable("SECRET"), .credential("apple")])
        #expect(
            RunningProcess(process.processIdentifier).variablesWithoutSecret(among: ["A", "SECRET", "NONE"]) == ["A"])
        #expect(held.first?.fingerprint == ForeignSecret(secret().utf8)?.fingerprint)
        #expect(
            RunningProcess(process.processIdentifier).startedAt.map {
                WallTime(secondsSinceEpoch: Int64(Date().timeIntervalSince1970)) - $0 < 600
            } == true)
    }

    /// Who starts processes chooses how much there is to read of each.
    @Test func noMoreIsReadThanALookMay() throws {
        let process = try Background(
            ["sh", "-c", "echo ready; read line"],
            environment: ["SECRET": secret(), "LONG": String(repeating: "a", count: 5_000)])
        #expect(RunningProcess(process.processID).secrets.map(\.place) == [.variable("SECRET")])
        let look = ProcessLook(bytes: 5_000)
        #expect(RunningProcess(process.processID, look).secrets.isEmpty && look.isCut)
    }

    @Test(.needs(.root)) func anotherUsersProcessMayNotBeLookedInto() throws {
        let process = try Background(["sh", "-c", "echo ready; read line"], environment: ["SECRET": secret()])
        #expect(!RunningProcess(process.processID).isForbidden)
        let nobody = try #require(try Accounts.user(named: "nobody"))
        #expect(try ThreadUser.perform(as: nobody) { RunningProcess(process.processID).isForbidden })
    }

    @Test func itsSupplementaryGroupsCount() {
        let own = Identity.current()
        #expect(RunningProcess(getpid()).groups == Set(own.groups + [own.group]))
    }

    /// Any user can start a process with a token that states our ids: what it holds counts only if one of our keys signed it.
    @Test func onlyAKeysOwnSecretIsSignedByIt() throws {
        let directory = try TemporaryDirectory()
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: directory.makeKey("key")))
        defer { try? file.close() }
        let key = try SigningKey(descriptor: file.fileDescriptor, place: .clock)
        let forged = try #require(ForeignSecret(secret().utf8))
        #expect(!forged.isSigned(by: [key.publicKey]))
        let minted = try key.mint(Claims.sample(of: "com.example.variable")).token.withBytes { ForeignSecret($0) }
        #expect(try #require(minted).isSigned(by: [key.publicKey]))
        #expect(try #require(minted).isSigned(by: []) == false)
    }
}
