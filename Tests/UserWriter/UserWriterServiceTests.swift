import Config
import Failures
import Foundation
import Linux
import Model
import TestSupport
import Testing

@testable import UserWriter

/// What a writer keeps from one request to the next.
@Suite(.needs(.root)) struct UserWriterServiceTests {
    /// A user that every Debian has.
    private static let user: UInt32 = 1

    @Test func aFileIsOfOneOutputUntilTheConfigurationChanges() throws {
        let directory = try TemporaryDirectory()
        _ = unsafe chmod(directory.path, 0o755)
        try directory.write("", to: "real.jwt")
        try #require(unsafe chown(directory("real.jwt"), Self.user, Self.user) == 0)
        for link in ["web.jwt", "api.jwt"] {
            try FileManager.default.createSymbolicLink(
                atPath: directory(link), withDestinationPath: directory("real.jwt"))
        }
        let service = UserWriterService(
            configuration: directory("c.yaml"), daemonUser: "root",
            identity: Identity(user: Self.user, group: Self.user))
        func configure(_ clients: [String]) throws {
            try directory.write(
                """
                keys: {apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: \(directory("key.p8"))}}
                state_dir: \(directory("state"))
                clients:

                """ + clients.map { "  \($0): {outputs: [{path: \(directory("\($0).jwt")), as: daemon}]}\n" }.joined(),
                to: "c.yaml")
        }
        func observe(_ client: String) throws -> WriterAnswer {
            let loaded = try ConfigurationLoader.load(path: directory("c.yaml"), as: Identity(user: 0, group: 0)).get()
            let path = try #require(AbsolutePath(directory("\(client).jwt")))
            return try service.carryOut(WriterRequest(.observe, try #require(loaded.configuration.files[path])))
        }
        try configure(["web", "api"])
        #expect(try observe("web").contents?.exists == true)
        #expect(try #require(throws: Failure.self) { try observe("api") }.code == .sameFile)
        #expect(try observe("web").contents?.exists == true)
        try configure(["api"])
        #expect(try observe("api").contents?.exists == true)
    }
}
