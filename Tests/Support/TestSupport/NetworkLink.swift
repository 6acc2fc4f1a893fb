/// Two network namespaces and a link between them, for as long as this value is there. Needs root.
///
/// The addresses are of RFC 5737: they lead nowhere, and no other network has them.
package final class NetworkLink {
    package static let nearAddress = "192.0.2.1"
    private static let farAddress = "192.0.2.2"

    /// What begins a command line whose program runs in the first namespace, or in the second one.
    package let near: [String]
    package let far: [String]
    /// The namespaces go with the last process in them.
    private let holders: [Background]

    package init() throws {
        holders = try (0..<2).map { _ in
            try Background(["unshare", "--net", "sh", "-c", "ip link set lo up && echo $$ && exec cat"])
        }
        let enter = try holders.map { holder in
            guard Int(holder.firstLine) != nil else { throw TestFailure("there is no namespace") }
            return ["/usr/bin/nsenter", "--net=/proc/\(holder.firstLine)/ns/net", "--"]
        }
        near = enter[0]
        far = enter[1]
        try ip(near, "link add near type veth peer name far netns \(holders[1].firstLine)")
        try ip(near, "address add \(Self.nearAddress)/24 dev near")
        try ip(far, "address add \(Self.farAddress)/24 dev far")
        try ip(near, "link set near up")
        try ip(far, "link set far up")
    }

    /// Takes the link away, or gives it back. Whoever is in the second namespace is told nothing: what is sent is lost.
    package func set(up isUp: Bool) throws {
        try ip(near, "link set near \(isUp ? "up" : "down")")
    }

    private func ip(_ enter: [String], _ words: String) throws {
        try runToSuccess(enter + ["ip"] + words.split(separator: " ").map(String.init))
    }
}
