import CLibsystemd
import Glibc
package import Linux
import SystemPackage

/// The listening sockets that systemd passed to this process, by the names their units give them
/// (`FileDescriptorName=`). They come in no useful order.
package struct PassedSockets: ~Copyable {
    private var waiting: [(name: String, descriptor: Int32)] = []

    /// Takes over the descriptors, made close-on-exec, and removes the variables that announce them: a child that reads
    /// these would take other descriptors for its own. Call before other threads start.
    package init() throws(SystemError) {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = try SystemError.check(unsafe sd_listen_fds_with_names(1, &names), "take over systemd's sockets")
        guard let names = unsafe names else { return }
        for index in 0..<Int(count) {
            guard let name = unsafe names[index] else { break }
            waiting.append((unsafe String(cString: name), SD_LISTEN_FDS_START + Int32(index)))
            unsafe free(name)
        }
        unsafe free(names)
    }

    /// The names of the sockets not taken yet; these are closed with this value.
    package var names: [String] { waiting.map(\.name) }

    /// Whether a socket of that name, not taken yet, may be reached from other machines.
    package func isReachable(_ name: String) -> Bool {
        waiting.contains { socket in
            guard socket.name == name, let kind = try? ListeningSocket(socket.descriptor) else { return false }
            return kind.family != .unix && !kind.isOnLoopback
        }
    }

    /// Takes the first socket left of that name. Throws `.invalidArgument`, and closes it, when it does not listen for
    /// streams.
    package mutating func take(_ name: String) throws(SystemError) -> PassedSocket? {
        guard let index = waiting.firstIndex(where: { $0.name == name }) else { return nil }
        let descriptor = Descriptor(adopting: waiting.remove(at: index).descriptor)
        guard let socket = try? ListeningSocket(descriptor.raw), socket.isListening, socket.family != .other else {
            throw SystemError("listen on the socket \(name) from systemd", errno: .invalidArgument)
        }
        return PassedSocket(family: socket.family, descriptor: descriptor)
    }

    /// Takes the first left of that name, of any kind: what an earlier process of the service had systemd hold.
    package mutating func takeHeld(_ name: String) -> Descriptor? {
        guard let index = waiting.firstIndex(where: { $0.name == name }) else { return nil }
        return Descriptor(adopting: waiting.remove(at: index).descriptor)
    }

    deinit {
        for socket in waiting { _ = close(socket.descriptor) }
    }
}

/// A socket that systemd passed; it listens for stream connections.
package struct PassedSocket: ~Copyable {
    /// Unix, or IPv4 or IPv6; the caller checks on which address.
    package let family: ListeningSocket.Family
    fileprivate let descriptor: Descriptor

    package var raw: Int32 { descriptor.raw }

    /// Returns the descriptor, which the caller closes.
    package consuming func release() -> Int32 {
        descriptor.release()
    }
}
