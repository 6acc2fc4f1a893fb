import CLibsystemd
import Glibc
package import Linux
import SystemPackage

/// The listening sockets that systemd passed to this process, by the names their units give them
/// (`FileDescriptorName=`). They come in no useful order.
package struct PassedSockets: ~Copyable {
    private var waiting: [(name: String, descriptor: Int32)] = []

    /// Takes over the descriptors, sets close-on-exec on them, and removes the variables that announce them. A child that reads
    /// these would treat other descriptors as its own. Call before other threads start.
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
            guard socket.name == name, let kind = try? SocketKind(socket.descriptor) else { return false }
            return kind.family != .unix && !kind.isOnLoopback
        }
    }

    /// Takes the first socket left of that name. Throws `.invalidArgument`, and closes it, when it does not listen for
    /// streams.
    package mutating func take(_ name: String) throws(SystemError) -> ListeningSocket? {
        guard let descriptor = takeHeld(name) else { return nil }
        return try ListeningSocket(adopting: descriptor, named: name)
    }

    /// Takes the first left of that name, of any kind, that an earlier process of the service had systemd hold.
    package mutating func takeHeld(_ name: String) -> Descriptor? {
        guard let index = waiting.firstIndex(where: { $0.name == name }) else { return nil }
        return Descriptor(adopting: waiting.remove(at: index).descriptor)
    }

    deinit {
        for socket in waiting { _ = close(socket.descriptor) }
    }
}
