import AppleClientSecret
import Linux
import NIOCore
package import Rotation
import SystemPackage

/// The commands' client of the daemon's status socket: one connection for each request, blocking.
package struct StatusClient: Sendable {
    /// Timeouts in seconds.
    package struct Patience: Hashable, Sendable {
        package var connect: Int64 = 5
        /// The daemon answers from its last snapshot.
        package var get: Int64 = 10
        /// A renewal waits for outputs and for actions, hooks among them.
        package var post: Int64 = 600

        package init() {}
    }

    /// A complete answer.
    package struct Response: Hashable, Sendable {
        package var status: Int
        package var contentType: String
        package var body: [UInt8]
    }

    private let socket: String
    private let patience: Patience

    /// A client of the daemon whose socket lies at `socket`; nothing is opened yet.
    package init(socket: String, patience: Patience = Patience()) {
        self.socket = socket
        self.patience = patience
    }

    /// The answer to a `GET` of `target`, such as `/v1/status`, whatever its status code.
    package func get(_ target: String) throws(ClientError) -> Response {
        try exchange("GET", target, body: nil, seconds: patience.get)
    }

    /// The answer to a `POST` to `target`, whatever its status code.
    package func post(_ target: String, json: String? = nil) throws(ClientError) -> Response {
        try exchange("POST", target, body: json, seconds: patience.post)
    }

    /// The daemon's status document.
    package func status() throws(ClientError) -> StatusDocument {
        try decoded(try accepted(try get("/v1/status")))
    }

    /// Renews and waits for the outcome; throws `answered` with the outcomes in its problem when a client failed.
    package func renew(_ renewal: Request.Renewal) throws(ClientError) -> RenewalReport {
        var members: [(name: String, value: JSONText)] = []
        if !renewal.clients.isEmpty {
            members.append(("clients", .array(renewal.clients.sorted().map { .string($0.description) })))
        }
        if let span = renewal.dueWithin { members.append(("due_within", .number(Int(clamping: span.count)))) }
        if renewal.deliverOnly { members.append(("deliver_only", .bool(true))) }
        if renewal.skipVerify { members.append(("skip_verify", .bool(true))) }
        let body = members.isEmpty ? nil : JSONText.object(members).rendered
        return try decoded(try accepted(try post("/v1/renew", json: body)))
    }

    /// Makes the daemon read its configuration again; throws `answered` with its diagnostics when it is refused.
    package func reload() throws(ClientError) -> ReloadReport {
        try decoded(try accepted(try post("/v1/reload")))
    }

    /// The body of an answer with status 200; throws for any other status.
    private func accepted(_ response: Response) throws(ClientError) -> [UInt8] {
        guard response.status != 200 else { return response.body }
        guard response.contentType.hasPrefix("application/problem+json") else {
            throw .notHTTP(socket: socket, what: "status \(response.status) without a reason")
        }
        throw .answered(try decoded(response.body))
    }

    private func exchange(_ method: String, _ target: String, body: String?, seconds: Int64) throws(ClientError)
        -> Response
    {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: clientsecretd", "Connection: close"]
        if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
        let request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")).utf8)
        let deadline = NIODeadline.now() + .seconds(seconds)
        let stream: UnixStream
        do {
            stream = try UnixStream.connect(to: socket, timeoutSeconds: patience.connect)
        } catch {
            switch error.errno {
            case .permissionDenied, .notPermitted: throw .notPermitted(socket: socket, cause: error.errno)
            case .wouldBlock, .timedOut: throw .timedOut(socket: socket, seconds: patience.connect)
            default: throw .notReachable(socket: socket, cause: error.errno)
            }
        }
        do {
            try stream.write(request)
        } catch {
            // A daemon without room for a connection answers before it reads, and closes: its answer is read below.
            guard error.errno == .brokenPipe || error.errno == .connectionReset else {
                throw .notReachable(socket: socket, cause: error.errno)
            }
        }
        return try read(from: stream, until: deadline, seconds: seconds)
    }

    private func read(from stream: borrowing UnixStream, until deadline: NIODeadline, seconds: Int64)
        throws(ClientError) -> Response
    {
        var reader = ResponseReader()
        while true {
            guard Readable.wait(for: stream.raw, until: deadline) else {
                throw .timedOut(socket: socket, seconds: seconds)
            }
            let bytes: [UInt8]
            do {
                bytes = try stream.read(upTo: 65_536)
            } catch {
                throw .notHTTP(socket: socket, what: "\(error.errno)")
            }
            do {
                if let response = try reader.take(bytes) { return response }
            } catch {
                throw .notHTTP(socket: socket, what: error.what)
            }
        }
    }
}
