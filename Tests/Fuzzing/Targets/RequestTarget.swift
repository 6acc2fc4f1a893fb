import AppleClientSecret
import Foundation
import Linux
import Model
import NIOCore
import NIOEmbedded
import TestSupport

@testable import StatusAPI

/// Whatever is said to the status socket is answered in whole answers of HTTP, the same however it comes in pieces; over
/// the socket for monitoring nothing is done and little is seen.
enum RequestTarget {
    static func run(_ bytes: [UInt8]) throws {
        for listener in [ListenerKind.status(try peer.get()), .metrics] {
            let whole = try HandledConnection(listener).say(bytes, by: max(bytes.count, 1))
            for size in [1, 97] where bytes.count <= 256 * size {
                let pieces = try HandledConnection(listener).say(bytes, by: size)
                try promise(pieces.asked == whole.asked, "what is asked depends on the pieces")
                try promise(steady(pieces.said) == steady(whole.said), "what is answered depends on the pieces")
            }
            let codes = try Answers.check(whole.said)
            let text = String(decoding: bytes, as: UTF8.self).lowercased()
            if listener == .metrics {
                try promise(whole.asked.isEmpty, "a request over the socket for monitoring")
                let isLocal = ["localhost", "127.", "::1"].contains { text.contains($0) }
                try promise(isLocal || !codes.contains(200), "shown under another machine's name")
            }
            try promise(whole.asked.isEmpty || text.contains("post"), "something is done without a POST")
        }
    }

    /// What is said without its digits: the metrics of the process change from one answer to the next, and with them how
    /// long a page of metrics is.
    private static func steady(_ said: [UInt8]) -> [UInt8] { said.filter { !(48...57).contains($0) } }

    private static let peer: Result<Peer, any Error> = Result {
        var ends: [Int32] = [-1, -1]
        try promise(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0, "no sockets")
        defer { for end in ends { close(end) } }
        return try Peer(of: ends[0])
    }
}

/// One connection, without a socket: the handlers are those of the server.
private final class HandledConnection {
    private let loop = EmbeddedEventLoop()
    private let channel: EmbeddedChannel
    private let requests = Requests()

    init(_ listener: ListenerKind) throws {
        let (loop, requests) = (loop, requests)
        let shared = SharedState(control: ControlPermission(daemonUser: geteuid()))
        _ = shared.show(try Self.snapshot())
        let router = Router(shared: shared, limits: .init(), eventLoop: loop) { request, _, id in
            requests.list.append(request)
            let answer: Answer =
                switch request {
                case .reload: .refused(diagnostics: ["c.yaml:1:1: error: \"x\"\u{1B}"])
                case .fleet: .fleet(FleetView(clients: []))
                case .rollout: .noRollout(nil)
                case .renew(let renewal):
                    .renewed(renewal.clients.sorted().map { RenewalOutcome(client: $0, result: .failed("so")) })
                }
            shared.settle(id) { loop.execute { requests.router?.settle(id, answer) } }
        }
        requests.router = router
        channel = EmbeddedChannel(handlers: HTTPConnection(router: router, listener: listener).handlers(), loop: loop)
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/peer")).wait()
    }

    /// Says `bytes` in pieces of this size and then nothing more; what is answered, and what the rotation was asked.
    func say(_ bytes: [UInt8], by size: Int) throws -> (said: [UInt8], asked: [DaemonRequest]) {
        for start in stride(from: 0, to: bytes.count, by: size) where channel.isActive {
            _ = try channel.writeInbound(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)]))
            loop.run()
        }
        if channel.isActive { channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        loop.run()
        var said: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { said += buffer.readableBytesView }
        // Every deadline passes: nothing is left behind.
        loop.advanceTime(by: .hours(1))
        try promise(!channel.isActive, "a connection that never ends")
        return (said, requests.list)
    }

    private static func snapshot() throws -> Snapshot {
        let start = WallTime(secondsSinceEpoch: 1_794_992_800)
        let claims = Claims.sample()
        let client = ClientView(
            name: try known(ClientName("web")), clientID: claims.subject, team: claims.issuer, keyID: claims.keyID,
            health: .ok, reason: nil,
            current: SecretInfo(fingerprint: Fingerprint(leadingBytes: 1), claims: claims, signer: nil),
            deliveredExpiresAt: start, renewAt: start, renewals: 1, consecutiveFailures: 0, lastError: nil,
            delivered: true, outputs: [], actions: [])
        return Snapshot(
            startedAt: start, ready: true, health: .ok, reason: nil, clockTrusted: true,
            configuration: ConfigurationView(path: "/etc/c.yaml", loadedAt: start, error: nil), clients: [client])
    }
}

/// All on one thread.
private final class Requests: @unchecked Sendable {
    var list: [DaemonRequest] = []
    weak var router: Router?
}

/// Answers, one after the other, as a strict reader takes them.
enum Answers {
    /// The status codes.
    static func check(_ bytes: [UInt8]) throws -> [Int] {
        var rest = bytes[...]
        var codes: [Int] = []
        while !rest.isEmpty {
            let end = rest.indices.first { rest[$0...].starts(with: Array("\r\n\r\n".utf8)) }
            guard let end else { throw BrokenPromise(description: "a head without an end") }
            let lines = String(decoding: rest[..<end], as: UTF8.self).components(separatedBy: "\r\n")
            rest = rest[(end + 4)...]
            let words = lines[0].split(separator: " ")
            guard words.count >= 2, words[0] == "HTTP/1.1", let code = Int(words[1]) else {
                throw BrokenPromise(description: "no status line: \(lines[0])")
            }
            codes.append(code)
            if code == 100 { continue }
            var fields: [String: String] = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                try promise(parts.count == 2 && fields[parts[0].lowercased()] == nil, "a bad field: \(line)")
                try promise(!line.unicodeScalars.contains { $0.value < 32 }, "a control character in a head")
                fields[parts[0].lowercased()] = parts[1]
            }
            guard let length = fields["content-length"].flatMap({ Int($0) }) else {
                throw BrokenPromise(description: "an answer without its length")
            }
            // The answer to a HEAD has none.
            let isHeadOnly = rest.isEmpty || rest.starts(with: Array("HTTP/1.1 ".utf8))
            if isHeadOnly, length > 0 { continue }
            try promise(rest.count >= length, "a body that is cut off")
            try check(Array(rest.prefix(length)), code, fields["content-type"] ?? "")
            rest = rest.dropFirst(length)
        }
        return codes
    }

    private static func check(_ body: [UInt8], _ code: Int, _ type: String) throws {
        guard type.hasSuffix("json") else { return }
        guard let document = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else {
            throw BrokenPromise(description: "no JSON: \(String(decoding: body, as: UTF8.self))")
        }
        if code >= 400 { try promise(document["status"] as? Int == code, "a problem with another status") }
    }
}
