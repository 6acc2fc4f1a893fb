import Foundation
import Linux
import SystemPackage
import TestSupport
import Testing

struct UnixSocketTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory("socket")
    }

    @Test func theNameHasItsModeWhateverTheUmask() async {
        await #expect(processExitsWith: .success) {
            umask(0o077)
            let directory = try TemporaryDirectory()
            let listener = try ListeningSocket(path: directory("socket"), mode: 0o664)
            let attributes = try FileManager.default.attributesOfItem(atPath: directory("socket"))
            #expect(attributes[.posixPermissions] as? Int == 0o664)
            #expect(attributes[.type] as? FileAttributeType == .typeSocket)
            listener.removeName()
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
        }
    }

    @Test func aPassedSocketKnowsItsPath() throws {
        let listener = try ListeningSocket(path: path, mode: 0o600)
        let passed = try ListeningSocket(adopting: Descriptor(adopting: dup(listener.raw)), named: "status")
        #expect(passed.path == path && listener.path == path)
        let network = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #expect(listen(network, 1) == 0)
        let other = try ListeningSocket(adopting: Descriptor(adopting: network), named: "metrics")
        #expect(other.path == nil)
    }

    private func access() throws -> [Int?] {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return [attributes[.posixPermissions] as? Int, attributes[.groupOwnerAccountID] as? Int]
    }

    @Test(.needs(.root)) func aGroupIsLetInAndShutOut() throws {
        let listener = try ListeningSocket(path: path, mode: 0o600)
        try listener.permit(group: 54_321)
        #expect(try access() == [0o660, 54_321])
        try listener.permit(group: nil)
        #expect(try access()[0] == 0o600)
        listener.removeName()
        // Whatever has the name since then is left alone, links included.
        try directory.write("precious", to: "precious")
        try directory.permit(0o640, "precious")
        let before = try FileManager.default.attributesOfItem(atPath: directory("precious"))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: directory("precious"))
        let error = #expect(throws: SystemError.self) { try listener.permit(group: 54_321) }
        #expect(error?.errno == .staleNFSFileHandle)
        let after = try FileManager.default.attributesOfItem(atPath: directory("precious"))
        #expect(after[.posixPermissions] as? Int == 0o640)
        #expect(after[.groupOwnerAccountID] as? Int == before[.groupOwnerAccountID] as? Int)
    }

    @Test(.needs(.root)) func aGroupOfOthersIsNotLetIn() throws {
        try directory.permit(0o777)
        try acting(as: Identity(user: 4321, group: 4321)) {
            let listener = try ListeningSocket(path: path, mode: 0o600)
            let error = #expect(throws: SystemError.self) { try listener.permit(group: 54_321) }
            #expect(error?.errno == .notPermitted)
        }
        #expect(try access()[0] == 0o600)
    }

    @Test func aSocketWithoutAListenerIsTakenOver() throws {
        endListening(try ListeningSocket(path: path, mode: 0o600).descriptor.duplicate().release())
        #expect(FileManager.default.fileExists(atPath: path))
        let refused = #expect(throws: SystemError.self) { _ = try connection() }
        #expect(refused?.errno == .connectionRefused)
        let listener = try ListeningSocket(path: path, mode: 0o600)
        _ = try connection()
        #expect(try listener.accept() != nil)
    }

    @Test(arguments: ["file", "directory", "link", "dangling"]) func aFileThatIsNoSocketStays(_ kind: String) throws {
        let files = FileManager.default
        switch kind {
        case "file": try directory.write("precious", to: "socket")
        case "directory": try files.createDirectory(atPath: path, withIntermediateDirectories: false)
        case "link":
            close(try ListeningSocket(path: directory("other"), mode: 0o600).descriptor.duplicate().release())
            try files.createSymbolicLink(atPath: path, withDestinationPath: directory("other"))
        default: try files.createSymbolicLink(atPath: path, withDestinationPath: directory("nowhere"))
        }
        let before = try files.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64
        let error = #expect(throws: SystemError.self) { _ = try ListeningSocket(path: path, mode: 0o600) }
        #expect(error?.errno == .notSocket)
        #expect(error?.description == "cannot listen on \(path): Socket operation on non-socket")
        #expect(try files.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64 == before)
    }

    @Test func saysWhenThePathIsTooLongOrItsDirectoryMissing() throws {
        let long = directory(String(repeating: "x", count: 100))
        let tooLong = #expect(throws: SystemError.self) { _ = try ListeningSocket(path: long, mode: 0o600) }
        #expect(tooLong?.errno == .fileNameTooLong)
        let missing = #expect(throws: SystemError.self) { _ = try ListeningSocket(path: directory("a/b"), mode: 0o600) }
        #expect(missing?.errno == .noSuchFileOrDirectory)
    }

    @Test func aNameThatBelongsToAnotherFileByNowIsNotRemoved() throws {
        let listener = try ListeningSocket(path: path, mode: 0o600)
        try FileManager.default.removeItem(atPath: path)
        try directory.write("other", to: "socket")
        listener.removeName()
        #expect(try directory.read("socket") == "other")
    }

    @Test(.needs(.root)) func knowsThePeersUserAndGroups() throws {
        _ = unsafe chmod(directory.path, 0o755)
        let listener = try ListeningSocket(path: path, mode: 0o666)
        let groups = (30_001...30_100).map(String.init)
        let connect = "IO::Socket::UNIX->new(Peer => '\(path)') or die $!; print $$"
        let client = try run([
            "setpriv", "--reuid=23456", "--regid=23457", "--groups=\(groups.joined(separator: ","))", "perl",
            "-MIO::Socket::UNIX",
            "-e", connect,
        ])
        #expect(client.complaints == "")
        let accepted = try nextConnection(to: listener)
        let peer = try Peer(of: accepted.raw)
        #expect(peer.user == 23_456)
        #expect(peer.group == 23_457)
        #expect(String(peer.process) == client.output)
        #expect(peer.groups.sorted() == Array(30_001...30_100))
        #expect(peer.belongs(to: 23_457))
        #expect(peer.belongs(to: 30_077))
        #expect(!peer.belongs(to: 0))
    }

    @Test(arguments: [36, 40, 107]) func knowsTheAddressThatThePeerIsBoundTo(length: Int) throws {
        let listener = try ListeningSocket(path: path, mode: 0o600)
        let name = String((UUID().uuidString + String(repeating: "/x", count: 60)).prefix(length))
        let bound = try CredentialAsker(at: path, from: name)
        let first = try nextConnection(to: listener)
        #expect(try Peer.address(of: first.raw) == [0] + Array(name.utf8))
        bound.hangUp()
        let unbound = try connection()
        let second = try nextConnection(to: listener)
        #expect(try Peer.address(of: second.raw) == [])
        hangUp(unbound)
        let error = #expect(throws: SystemError.self) { _ = try Peer.address(of: listener.descriptor.raw) }
        #expect(error?.errno == .socketNotConnected)
    }

    private func connection() throws(SystemError) -> UnixStream {
        try UnixStream(connectingTo: path, timeoutSeconds: 60, milliseconds: 60_000)
    }

    private func nextConnection(to listener: ListeningSocket) throws -> Descriptor {
        guard let accepted = try listener.accept() else { throw Errno.wouldBlock }
        return accepted
    }

    private func hangUp<Stream: ~Copyable>(_ stream: consuming Stream) {}
}
