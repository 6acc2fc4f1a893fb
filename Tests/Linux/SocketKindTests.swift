import Glibc
import Linux
import Testing

/// Of other kinds than these: `Systemd.PassedSocketsTests`.
struct SocketKindTests {
    /// The kind of a listening socket at this IPv4 address.
    private func kind(at address: UInt32) throws -> SocketKind {
        let listener = Descriptor(adopting: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = address.bigEndian
        let bound = unsafe withUnsafePointer(to: &place) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener.raw, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        #expect(bound == 0)
        #expect(listen(listener.raw, 1) == 0)
        return try SocketKind(listener.raw)
    }

    @Test func loopbackDiffersFromWhatOthersReach() throws {
        let own = try kind(at: 0x7F00_0001)
        #expect(own.family == .internet && own.isListening && own.isOnLoopback)
        let all = try kind(at: 0)
        #expect(all.family == .internet && all.isListening && !all.isOnLoopback)
        // An unbound socket counts as bound to every address.
        let unbound = Descriptor(adopting: socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0))
        #expect(try !SocketKind(unbound.raw).isOnLoopback)
    }
}
