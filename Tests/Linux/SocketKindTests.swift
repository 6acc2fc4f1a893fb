import Glibc
import Linux
import TestSupport
import Testing

struct SocketKindTests {
    private func kind(
        _ family: Int32, _ type: __socket_type, isListening: Bool = false, bound: (Int32) -> Void = { _ in }
    ) throws -> SocketKind {
        let descriptor = socket(family, Int32(type.rawValue), 0)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        bound(descriptor)
        if isListening { try #require(listen(descriptor, 1) == 0) }
        return try SocketKind(descriptor)
    }

    private func bindFour(_ address: UInt32) -> (Int32) -> Void {
        { descriptor in
            var place = sockaddr_in()
            place.sin_family = sa_family_t(AF_INET)
            place.sin_addr.s_addr = address.bigEndian
            let bound = unsafe withUnsafePointer(to: &place) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            #expect(bound == 0)
        }
    }

    @Test func loopbackDiffersFromWhatOthersReach() throws {
        let own = try kind(AF_INET, SOCK_STREAM, isListening: true, bound: bindFour(0x7F00_0001))
        #expect(own.family == .internet && own.isListening && own.isOnLoopback)
        let all = try kind(AF_INET, SOCK_STREAM, isListening: true, bound: bindFour(0))
        #expect(all.family == .internet && all.isListening && !all.isOnLoopback)
        // An unbound socket counts as bound to every address.
        #expect(try !kind(AF_INET6, SOCK_STREAM).isOnLoopback)
    }

    @Test func unixSocketsAndDatagramSocketsAreRecognised() throws {
        let directory = try TemporaryDirectory()
        let listener = try ListeningSocket(path: directory("socket"), mode: 0o600)
        let unix = try SocketKind(listener.descriptor.raw)
        #expect(unix.family == .unix && unix.isListening && !unix.isOnLoopback)
        let deaf = try kind(AF_UNIX, SOCK_STREAM)
        #expect(deaf.family == .unix && !deaf.isListening)
        #expect(try !kind(AF_UNIX, SOCK_DGRAM).isListening)
        #expect(throws: SystemError.self) { try SocketKind(-1) }
    }
}
