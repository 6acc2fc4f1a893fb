import AppleClientSecret
import Config
import Failures
import Foundation
import Glibc
import Linux
import Model
import Synchronization
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

    /// The daemon would report a silent writer for a file that is published.
    @Test func anAnswerIsSentAlsoAfterADiskThatTookLong() throws {
        let service = UserWriterService(
            configuration: "/etc/c.yaml", daemonUser: "root", identity: Identity(user: Self.user, group: Self.user))
        var ends: [Int32] = [0, 0]
        let result = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        try #require(result == 0)
        let near = ends[0]
        defer { _ = close(near) }
        // More than the socket takes without a reader.
        let answer = WriterAnswer(
            Failure(.writerRefused, at: .clock, detail: String(repeating: "a", count: 1 << 20)))
        let wanted = WriterMessage.line(of: answer).count
        try #require(wanted > 1 << 20 && wanted <= WriterMessage.longest)
        let read = Atomic(0)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            // Until then the writer has to wait.
            usleep(50_000)
            let bytes = (try? Descriptor.read(near, atMost: 4 << 20)) ?? []
            read.store(bytes.count, ordering: .sequentiallyConsistent)
            done.signal()
        }
        do {
            var stream = UnixStream(adopting: Descriptor(adopting: ends[1]), milliseconds: 0)
            service.send(answer, over: &stream)
        }
        done.wait()
        #expect(read.load(ordering: .sequentiallyConsistent) == wanted)
    }

    /// A process keeps the user and groups of its start, and requests that come often would keep it for ever. In a process of its
    /// own, because other tests' children signal this one.
    @Test func aWriterEndsInTimeAlsoWhileRequestsKeepComing() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let path = directory("socket")
            let service = UserWriterService(
                configuration: directory("c.yaml"), daemonUser: "root",
                identity: Identity(user: Self.user, group: Self.user))
            let listener = try ActivatedListener(try ListeningSocket(path: path, mode: 0o600))
            let requests = Repetition {
                usleep(1_500_000)
                do { _ = try UnixStream(connectingTo: path, timeoutSeconds: 1, milliseconds: 0) } catch {}
            }
            defer { requests.stop() }
            try service.serve(listener, for: 50)
            #expect(requests.turns > 0)
        }
    }
}
