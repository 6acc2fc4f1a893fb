import AppleClientSecret
import Foundation
import Linux
import Model
import StatusAPI
import Synchronization
import TestSupport
import Testing

/// A server on a socket of its own, with a rotation whose answers the test decides.
final class Harness: Sendable {
    let directory: TemporaryDirectory
    let socket: String
    let server: StatusServer
    let rotation: ScriptedRotation

    /// - Parameters:
    ///   - change: makes the daemon's limits those of the test.
    ///   - answer: what the rotation says at once; nil: it keeps the client waiting until the test answers.
    init(
        limits change: (inout HTTPLimits) -> Void = { _ in },
        control: ControlPermission = ControlPermission(daemonUser: isRoot ? 4321 : geteuid()),
        show snapshot: Snapshot? = nil, answer: @escaping @Sendable (DaemonRequest) -> Answer? = { _ in nil }
    ) throws {
        directory = try TemporaryDirectory()
        // Other users come to this socket too.
        try directory.permit(0o755)
        socket = directory("status.sock")
        let rotation = ScriptedRotation(answer)
        self.rotation = rotation
        var limits = HTTPLimits()
        change(&limits)
        if !isRoot {
            // What holds for each user but root is for the tests that come as several.
            limits.connectionsPerUser = limits.connections + 1
            limits.requestPause = 0
        }
        server = try StatusServer(
            listener: try listen(at: socket), control: control,
            limits: limits, handle: { rotation.take($0, $2) })
        rotation.serve(server)
        if let snapshot { server.show(snapshot) }
    }

    deinit {
        server.stop()
    }

    var client: StatusClient { StatusClient(socket: socket) }

    func connect() throws -> Connection {
        try Connection(to: socket)
    }

    /// A connection whose request has reached the rotation.
    ///
    /// - Parameter number: how many have by then.
    func asking(_ request: String, number: Int = 1) throws -> Connection {
        let connection = try connect()
        try connection.send(request)
        #expect(eventually { rotation.asked.count == number })
        return connection
    }

    /// Sends one request as it stands and reads until the server ends the connection.
    func exchange(_ request: String) throws -> String {
        let connection = try connect()
        try connection.send(request)
        return try connection.readToEnd()
    }

    /// The answer to a request that asks for the connection's end.
    func ask(_ method: String, _ target: String, body: String? = nil, type: String? = "application/json") throws
        -> String
    {
        try exchange(Texts.request(method, target, body: body, type: type))
    }

    /// The server's ends of connections that are open, by the kernel's account; the one that listens is not counted.
    func openConnections() throws -> Int {
        // A file that says it is empty: read to its end all the same.
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/net/unix"))
        let table = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
        return table.split(separator: "\n").count { $0.hasSuffix(" " + socket) } - 1
    }
}

/// Comes to the socket as other users, which only root can.
extension Harness {
    /// The answers to these requests, each on a connection of its own that stays open until the last one is answered.
    func received(_ requests: [String], user: Int, group: Int = 9999, groups: String? = nil)
        throws -> [String]
    {
        let finished = try run(command(requests, user: user, group: group, groups: groups))
        #expect(finished.status == 0, "\(finished.complaints)")
        let answers = finished.output.split(separator: "\n").last ?? ""
        return try JSONDecoder().decode([String].self, from: Data(answers.utf8)).map(\.undated)
    }

    /// The same, but returns as soon as the request is sent; the answer is in the value's next line.
    func sent(_ request: String, user: Int) throws -> Background {
        let background = try Background(command([request], user: user, group: 9999, groups: nil))
        #expect(background.firstLine == "sent")
        return background
    }

    private func command(_ requests: [String], user: Int, group: Int, groups: String?) -> [String] {
        ["setpriv", "--reuid=\(user)", "--regid=\(group)", groups.map { "--groups=\($0)" } ?? "--clear-groups"]
            + ["/usr/bin/python3", "-c", Self.client, socket] + requests
    }

    /// Sends each request on a connection of its own, with a line for each, and prints the answers as a JSON list.
    private static let client = """
        import json, socket, sys
        held, answers = [], []
        for text in sys.argv[2:]:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(30)
            connection.connect(sys.argv[1])
            held.append(connection)
            try:
                connection.sendall(text.encode())
            except BrokenPipeError:
                pass  # turned away before it had said anything
            print("sent", flush=True)
            answer = b""
            while b"\\r\\n\\r\\n" not in answer:
                answer += connection.recv(65536)
            head = answer.split(b"\\r\\n\\r\\n")[0]
            whole = len(head) + 4 + int(head.split(b"content-length: ")[1].split(b"\\r\\n")[0])
            while len(answer) < whole:
                answer += connection.recv(65536)
            answers.append(answer.decode())
        print(json.dumps(answers))
        """
}

/// A listening socket that everybody may connect to.
func listen(at path: String) throws -> ListeningSocket { try ListeningSocket(path: path, mode: 0o666) }

/// Stands where the rotation stands: notes what is asked and answers when it is told to.
final class ScriptedRotation: Sendable {
    private let immediate: @Sendable (DaemonRequest) -> Answer?
    private struct State {
        var asked: [(request: DaemonRequest, id: RequestID)] = []
        weak var server: StatusServer?
    }

    private let state = Mutex(State())

    init(_ immediate: @escaping @Sendable (DaemonRequest) -> Answer?) {
        self.immediate = immediate
    }

    func serve(_ server: StatusServer) {
        state.withLock { $0.server = server }
    }

    func take(_ request: DaemonRequest, _ id: RequestID) {
        let number = state.withLock { state in
            state.asked.append((request, id))
            return state.asked.count - 1
        }
        if let answer = immediate(request) { self.answer(number, answer) }
    }

    var asked: [DaemonRequest] { state.withLock { $0.asked.map(\.request) } }

    /// Answers the request with this number, again if need be.
    func answer(_ number: Int, _ answer: Answer) {
        let (server, id) = state.withLock { ($0.server, $0.asked[number].id) }
        server?.answer(id, answer)
    }
}
