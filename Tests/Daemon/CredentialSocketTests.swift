import AppleClientSecret
import Failures
import Foundation
import Linux
import Model
import Rotation
import Systemd
import TestSupport
import Testing

@testable import Daemon

struct CredentialSocketTests {
    /// systemd never creates it again while it listens there.
    @Test func aSocketWhoseFileIsGoneServesNoUnit() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let configuration = try Configuration.serving(["web": "web.service", "app": "app@.service"])
            let server = try CredentialServer(
                configuration, secretCache: SecretCache(), log: Log(environment: [:]))
            var passed = try PassedSockets()
            let socket = CredentialSocket(server, from: &passed, beside: directory("status.sock"))
            defer { socket.close(by: nil) }
            _ = socket.adopt(configuration)
            let served = ["web.service", "app@one.service"]
            for unit in served { #expect(socket.problem(loadingBy: unit) == nil) }
            try FileManager.default.removeItem(atPath: directory("credentials.sock"))
            for unit in served {
                let found = socket.problem(loadingBy: unit)
                #expect(found?.code == .credentialSocketUnusable)
                #expect(found?.place == .named(directory("credentials.sock")))
            }
            #expect(socket.problem(loadingBy: "other.service") == nil)
            _ = socket.adopt(try .serving([:]))
            #expect(socket.problem(loadingBy: "web.service") == nil)
        }
    }

    @Test func checkNamesTheDaemonsOwnSockets() {
        let again = Remedy.say("start it again")
        func gone(_ socket: String) -> SocketUnit.Problem {
            SocketUnit.Problem(socket: socket, words: "is gone", remedy: again)
        }
        let metrics = "clientsecretd-metrics.socket"
        let all = [gone("clientsecretd-writer@app.socket"), gone(PackageUnit.credentialSocket), gone(metrics)]
        let ofMetrics = Failure(.socketUnusable, at: .named(metrics), detail: "is gone", remedy: again)
        let lost = Failure(
            .credentialSocketUnusable, at: .named(PackageUnit.credentialSocket), detail: "is gone", remedy: again)
        #expect(UnitsInEffect.failures(of: all, mask: nil, isServing: true) == [ofMetrics, lost])
        #expect(UnitsInEffect.failures(of: all, mask: nil, isServing: false) == [ofMetrics])
        let mask = Remedy.say("unmask it")
        let masked = Failure(.credentialSocketUnusable, at: .named(PackageUnit.credentialSocket), remedy: mask)
        #expect(UnitsInEffect.failures(of: [], mask: mask, isServing: true) == [masked])
        #expect(UnitsInEffect.failures(of: [], mask: mask, isServing: false) == [])
    }
}
