package import AppleClientSecret
import Failures
import Glibc
import Linux
package import Model
import SystemPackage

/// The commands' client for the daemon's status socket: one connection for each request, blocking.
package struct StatusClient: Sendable {
    /// Timeouts in seconds.
    package struct Timeouts: Hashable, Sendable {
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
        var contentType: String
        package var body: [UInt8]
    }

    private let socket: String
    private let timeouts: Timeouts
    private let serviceUser: @Sendable () -> String?
    private let configuration: @Sendable () -> String?
    private let whenUnreached: @Sendable () -> Void

    /// A client of the daemon whose socket is at `socket`; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - serviceUser: the name or number of the user that the package's unit runs the daemon as; it need not exist. If others
    ///     may put a socket there too, only root, the caller and that user may listen. Not asked for if no other user may.
    ///   - configuration: the path of the file without which that daemon does not run; nil if it is not known.
    ///   - whenUnreached: called if nothing can be reached there, to look for ``CommandContext/remedyForSocket``.
    package init(
        socket: String, timeouts: Timeouts = Timeouts(),
        serviceUser: @escaping @autoclosure @Sendable () -> String? = nil,
        configuration: @escaping @autoclosure @Sendable () -> String? = nil,
        whenUnreached: @escaping @Sendable () -> Void = {}
    ) {
        self.socket = socket
        self.timeouts = timeouts
        self.serviceUser = serviceUser
        self.configuration = configuration
        self.whenUnreached = whenUnreached
    }

    /// The daemon's status document: its snapshot, without internal parts.
    package func status() throws(StatusClientError) -> Snapshot {
        try Snapshot(json: try accepted(try exchange("GET", "/v1/status", seconds: timeouts.get)))
    }

    /// The reports of the fleet's machines: of those that are not up to date, or of all.
    package func fleet(all: Bool) throws(StatusClientError) -> FleetView {
        // The daemon reads the reports first.
        let target = all ? "/v1/fleet/all" : "/v1/fleet"
        return try FleetView(json: try accepted(try exchange("GET", target, seconds: timeouts.post)))
    }

    /// Renews and waits for the outcome; throws `answered` with the outcomes in its problem when a client failed.
    package func renew(_ renewal: DaemonRequest.Renewal) throws(StatusClientError) -> RenewalReport {
        let body = renewal == DaemonRequest.Renewal() ? nil : RenewalBody(renewal).json
        let answer = try exchange("POST", "/v1/renew", body: body, seconds: timeouts.post)
        return try RenewalReport(json: try accepted(answer))
    }

    /// Has the rollout of a client's secret do something, and waits until the store confirms it.
    package func rollout(_ client: ClientName, _ order: RolloutOrder) throws(StatusClientError) -> RolloutView {
        let target = "/v1/clients/\(client)/rollout/\(order.rawValue)"
        return try RolloutView(json: try accepted(try exchange("POST", target, seconds: timeouts.post)))
    }

    /// Makes the daemon read its configuration again; throws `answered` with its diagnostics when it is refused.
    package func reload() throws(StatusClientError) -> ReloadReport {
        try ReloadReport(json: try accepted(try exchange("POST", "/v1/reload", seconds: timeouts.post)))
    }

    /// The body of an answer with status 200; throws for any other status.
    private func accepted(_ response: Response) throws(StatusClientError) -> [UInt8] {
        guard response.status != 200 else { return response.body }
        guard response.contentType.hasPrefix("application/problem+json") else {
            throw .notHTTP(socket: socket, what: "status \(response.status) without a reason")
        }
        throw .answered(try Problem(json: response.body))
    }

    /// The answer, with any status.
    private func exchange(
        _ method: String, _ target: String, body: String? = nil, seconds: Int64
    ) throws(StatusClientError) -> Response {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: clientsecretd", "Connection: close"]
        if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
        let request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")).utf8)
        // connect(2) waits for the file system of the socket without a timeout.
        if FileStatus.problem(accessing: socket, F_OK) == .timedOut {
            throw .notReachable(socket: socket, cause: .timedOut)
        }
        let stream: UnixStream
        do {
            stream = try UnixStream(
                connectingTo: socket, timeoutSeconds: timeouts.connect, milliseconds: seconds * 1_000)
        } catch {
            switch error.errno {
            case .permissionDenied, .notPermitted: throw .notPermitted(socket: socket, cause: error.errno)
            case .wouldBlock, .timedOut: throw .timedOut(socket: socket, seconds: timeouts.connect)
            default:
                whenUnreached()
                // A service that has lost its socket runs, perhaps with its last good configuration.
                if let configuration = configuration(), CommandContext.current.remedyForSocket == nil,
                    FileStatus.isAbsent(configuration)
                {
                    throw .notConfigured
                }
                throw .notReachable(socket: socket, cause: error.errno)
            }
        }
        try checkListener(of: stream)
        do {
            try stream.write(request)
        } catch {
            // A daemon without room for a connection answers before it reads, and closes: its answer is read below.
            guard error.errno == .brokenPipe || error.errno == .connectionReset else {
                throw .notReachable(socket: socket, cause: error.errno)
            }
        }
        return try read(from: stream, seconds: seconds)
    }

    /// Throws when a program other than the daemon may be listening. If others may create names, as in a pod's /dev/shm, the
    /// kernel's report of the listening user decides. If only root and the caller may, they have chosen the listener.
    private func checkListener(of stream: borrowing UnixStream) throws(StatusClientError) {
        let peer: Peer
        do {
            peer = try stream.peer()
        } catch {
            throw .notHTTP(socket: socket, what: "\(error.errno)")
        }
        let identity = Identity.current()
        if identity.trusts(peer.user) || GuardedPath.isOnlyForTrusted(socket, as: identity) { return }
        if let user = serviceUser(), (try? Accounts.userID(user)) == peer.user { return }
        throw .foreignListener(socket: socket, user: peer.user)
    }

    private func read(from stream: borrowing UnixStream, seconds: Int64) throws(StatusClientError) -> Response {
        var reader = ResponseReader()
        var hasBegun = false
        while true {
            let bytes: [UInt8]
            do {
                bytes = try stream.read(upTo: 65_536)
            } catch {
                switch error.errno {
                case .timedOut: throw .timedOut(socket: socket, seconds: seconds)
                // A daemon that stops has not accepted this connection yet.
                case .connectionReset: throw .notReachable(socket: socket, cause: error.errno)
                default: throw .notHTTP(socket: socket, what: "\(error.errno)")
                }
            }
            // A daemon that closes without a byte has ended, or was ended: a program of another kind would answer something.
            guard hasBegun || !bytes.isEmpty else { throw .ended(socket: socket) }
            hasBegun = true
            do {
                if let response = try reader.take(bytes) { return response }
            } catch {
                throw .notHTTP(socket: socket, what: error.what)
            }
        }
    }
}

extension JSONDocument {
    /// Reads a document that the daemon sent.
    package init(json: [UInt8]) throws(StatusClientError) {
        do throws(JSONError) {
            try self.init(parsing: json)
        } catch {
            throw .malformed(what: error.words)
        }
    }
}
