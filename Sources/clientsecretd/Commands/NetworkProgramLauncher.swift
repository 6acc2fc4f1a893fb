import AppleClientSecret
import Daemon
import Failures
import Glibc
import Linux
import SignIn

/// The program `clientsecretd-network`, which asks Apple: this one has no network. It runs as a child with the rights of
/// whoever types the command, never through the service.
struct NetworkProgramLauncher {
    static let name = NetworkProgram.name

    private let path: String
    private let server: [String]

    /// Throws when it is not installed.
    init(_ options: ServerOptions) throws(CommandFailure) {
        guard OwnProgram.path() != nil else {
            throw CommandFailure(.failed, "\(Self.name) cannot be found without /proc")
        }
        guard let path = NetworkProgram.path() else {
            throw CommandFailure(
                .failed,
                "\(Self.name) is not installed, which asks Apple; it is in the package of this name: "
                    + "apt-get install \(Self.name)")
        }
        self.path = path
        server = try options.arguments()
    }

    /// What Apple says of a client secret.
    func verify(_ trial: SecretTrial) throws(CommandFailure) -> Verdict {
        guard let verdict = Verdict(answer: try run("verify", trial.request)) else { throw Self.unreadable }
        return verdict
    }

    /// Posts a form to the token endpoint, or to the one for revocations.
    func post(
        _ fields: [FormEncoding.Field], to path: Endpoint.Path
    ) throws(CommandFailure) -> Result<HTTPAnswer, TransportFailure> {
        let request = JSONText.object(fields.map { ($0.name, .string($0.value)) })
        return try answer(of: path == .revoke ? "revoke" : "token", request.bytes)
    }

    /// The text of the key set.
    func keys() throws(CommandFailure) -> Result<HTTPAnswer, TransportFailure> {
        try answer(of: "keys", [])
    }

    /// What helps where nothing was reached and sudo has dropped the variables that name the proxy; empty elsewhere.
    static func proxyRemedy(for kind: TransportFailure.Kind?) -> String {
        let environment = Environment.current
        let hasProxy = ["https_proxy", "HTTPS_PROXY"].contains { environment[$0]?.isEmpty == false }
        guard kind == .nameNotResolved || kind == .notConnected || kind == .timedOut, environment["SUDO_UID"] != nil,
            !hasProxy
        else { return "" }
        return "; sudo does not pass on which proxy to use, unless it is called so: sudo "
            + "--preserve-env=https_proxy,no_proxy"
    }

    private static let unreadable = CommandFailure(.failed, "\(name) gave no answer; see what it says above")

    private func answer(
        of role: String, _ request: [UInt8]
    ) throws(CommandFailure) -> Result<HTTPAnswer, TransportFailure> {
        guard let answer = HTTPAnswer.read(wire: try run(role, request)) else { throw Self.unreadable }
        return answer
    }

    /// Runs a role on one request; its complaints go to standard error as they are.
    private func run(_ role: String, _ request: [UInt8]) throws(CommandFailure) -> [UInt8] {
        let input = try Self.pipe()
        let output = try Self.pipe()
        let child = try start([path, role] + server, input: input.reading, output: output.writing)
        // Else neither end would ever be seen to close.
        close(input.reading)
        close(output.writing)
        // A child that ends early is known by its answer.
        signal(SIGPIPE, SIG_IGN)
        _ = CommandOutput.write(request, to: input.writing)
        signal(SIGPIPE, SIG_DFL)
        close(input.writing)
        defer { close(output.reading) }
        let answer = Self.readAll(output.reading)
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw Self.unreadable }
        return answer
    }

    private func start(_ words: [String], input: Int32, output: Int32) throws(CommandFailure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var arguments = unsafe words.map { unsafe strdup($0) }
        unsafe arguments.append(nil)
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        var child: pid_t = 0
        // The environment goes along: it says which proxy to use.
        let failed = unsafe posix_spawn(&child, path, &actions, nil, arguments, environ)
        guard failed == 0 else {
            throw CommandFailure(
                .failed, "\(Printable.name(path)) cannot be run: \(CommandOutput.text(ofErrno: failed))")
        }
        return child
    }

    private static func pipe() throws(CommandFailure) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else {
            throw CommandFailure(.failed, "a pipe cannot be made: \(CommandOutput.text(ofErrno: errno))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func readAll(_ descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return bytes }
            bytes += buffer[..<count]
        }
    }
}
