import AppleClientSecret
import Foundation
import TestSupport
import Testing

@testable import Daemon

/// What can be seen of a process that has a client secret.
@Suite struct RunningProcessTests {
    private func secret(of client: String = "com.example.variable") -> String { Claims.sample(of: client).sampleText }

    @Test(arguments: [
        ("0::/system.slice/shop.service\n", "shop.service"),
        ("0::/system.slice/system-shop.slice/shop@one.service\n", "shop@one.service"),
        ("0::/system.slice/shop.service/worker\n", "shop.service"),
        ("0::/system.slice/shop.service/important.service\n", "shop.service"),
        ("0::/system.slice/docker-0123.scope/system.slice/shop.service\n", nil),
        ("1:name=systemd:/system.slice/shop.service\n2:cpu:/\n", "shop.service"),
        ("9:name=systemd:/\n1:cpu:/\n0::/system.slice/shop.service\n", "shop.service"),
        ("4:memory:/system.slice/shop.service\n0::/\n", nil),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/shop.service\n", nil),
        ("0::/user.slice/user-0.slice/session-1.scope\n", nil),
        ("0::/system.slice/docker-0123.scope\n", nil), ("", nil),
    ])
    func itsServiceIsKnownByItsControlGroup(text: String, unit: String?) {
        #expect(RunningProcess.unit(ofControlGroups: text) == unit)
    }

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
        #expect(held.first?.fingerprint == AppleSecret(secret().utf8)?.fingerprint)
        #expect(
            RunningProcess(process.processIdentifier).startedAt.map {
                WallTime(secondsSinceEpoch: Int64(Date().timeIntervalSince1970)) - $0 < 600
            } == true)
    }
}
