import CLinux

/// The process at a Unix socket's other end. The kernel recorded it when it connected or, for a client, when the server began to
/// listen.
package struct Peer: Hashable, Sendable {
    package let user: UInt32
    /// The primary group.
    package let group: UInt32
    package let process: Int32
    /// Supplementary groups; the primary one is not always among them.
    package let groups: [UInt32]

    /// The most groups the kernel gives a process (NGROUPS_MAX).
    private static let mostGroups = 65_536

    package init(of descriptor: Int32) throws(SystemError) {
        var user: UInt32 = 0
        var group: UInt32 = 0
        var process: Int32 = 0
        try SystemError.check(
            unsafe clinux_peer_identity(descriptor, &user, &group, &process), "learn who has connected")
        var groups = [UInt32](repeating: 0, count: 64)
        var count = try Peer.read(descriptor, into: &groups)
        if count > groups.count {
            groups = [UInt32](repeating: 0, count: min(count, Peer.mostGroups))
            count = try Peer.read(descriptor, into: &groups)
        }
        self.user = user
        self.group = group
        self.process = process
        self.groups = Array(groups.prefix(count))
    }

    /// ``ForeignFile/command(of:)``. A hint and no proof: the process number may have been reused.
    package var command: [UInt8]? { process > 0 ? ForeignFile.command(of: process) : nil }

    package func belongs(to group: UInt32) -> Bool {
        group == self.group || groups.contains(group)
    }

    /// The address to which the peer has bound its end, in the form of `sun_path`; empty when it has bound none.
    ///
    /// An abstract one begins with a NUL, and any user can bind one.
    package static func address(of descriptor: Int32) throws(SystemError) -> [UInt8] {
        var address = [UInt8](repeating: 0, count: Int(CLINUX_UNIX_ADDRESS))
        let count = try SystemError.check(
            unsafe clinux_peer_address(descriptor, &address), "learn the peer's address")
        return Array(address.prefix(Int(count)))
    }

    private static func read(_ descriptor: Int32, into groups: inout [UInt32]) throws(SystemError) -> Int {
        let capacity = Int32(groups.count)
        return Int(
            try SystemError.check(
                unsafe clinux_peer_groups(descriptor, &groups, capacity), "learn the peer's groups"))
    }
}
