import Glibc
import Linux
import TestSupport
import Testing

struct ListeningSocketTests {
    private func kind(
        _ family: Int32, _ type: __socket_type, bound: (Int32) -> Void = { _ in }
    ) throws -> ListeningSocket {
        let descriptor = socket(family, Int32(type.rawValue), 0)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        bound(descriptor)
        return try ListeningSocket(descriptor)
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
        let own = try kind(AF_INET, SOCK_STREAM, bound: bindFour(0x7F00_0001))
        #expect(own.family == .internet && own.isStream && own.isOnLoopback)
        let all = try kind(AF_INET, SOCK_STREAM, bound: bindFour(0))
        #expect(all.family == .internet && all.isStream && !all.isOnLoopback)
        // An unbound socket counts as bound to every address.
        #expect(try !kind(AF_INET6, SOCK_STREAM).isOnLoopback)
    }

    @Test func unixSocketsAndDatagramSocketsAreRecognised() throws {
        let unix = try kind(AF_UNIX, SOCK_STREAM)
        #expect(unix.family == .unix && unix.isStream && !unix.isOnLoopback)
        #expect(try !kind(AF_UNIX, SOCK_DGRAM).isStream)
        #expect(throws: SystemError.self) { try ListeningSocket(-1) }
    }
}
