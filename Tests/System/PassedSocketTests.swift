import Foundation
import TestSupport
import Testing

/// A status socket that the service manager listens on, before and after the daemon.
@Suite struct PassedSocketTests {
    /// Becomes the daemon with listening sockets as systemd passes them: `NAME=PATH`, with the name `metrics` a TCP socket
    /// whose port is written to that path, without a path a TCP socket too.
    static let passing = """
        import os, socket, sys
        names = []
        for number, argument in enumerate(sys.argv[1].split(','), 3):
            name, path = argument.split('=')
            isLocal = path and name != 'metrics'
            listener = socket.socket(socket.AF_UNIX if isLocal else socket.AF_INET)
            listener.bind(path if isLocal else ('127.0.0.1', 0))
            if path and not isLocal:
                with open(path, 'w') as file: file.write(str(listener.getsockname()[1]))
            listener.listen()
            if listener.fileno() != number:
                os.dup2(listener.fileno(), number)
                listener.close()
            os.set_inheritable(number, True)
            listener.detach()
            names.append(name)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(names)), LISTEN_FDNAMES=':'.join(names))
        os.execv(sys.argv[2], sys.argv[2:])
        """

    @Test func theStatusSocketIsTakenOverAndLeftToSystemd() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web"))
        let passed = sandbox.directory("passed.sock")
        let sockets = "other=\(sandbox.directory("other.sock")),status=\(passed)"
        try sandbox.start(under: ["python3", "-c", Self.passing, sockets])
        #expect(try sandbox.command("status", "--socket", passed).status == 0)
        // It makes none of its own beside it.
        #expect(!FileManager.default.fileExists(atPath: sandbox.socket))
        #expect(try sandbox.log().contains("nothing is done with the socket other that systemd passed"))
        #expect(sandbox.stop() == 0)
        #expect(FileManager.default.fileExists(atPath: passed))
    }

    /// Who asks over TCP cannot be told, and could ask for anything.
    @Test func aTCPSocketIsNoStatusSocket() throws {
        let sandbox = try Sandbox()
        try sandbox.configure(sandbox.client("web"))
        try sandbox.start(under: ["python3", "-c", Self.passing, "status="])
        #expect(try sandbox.log().contains("the socket status from systemd: the socket cannot be used: not a Unix"))
        #expect(FileManager.default.fileExists(atPath: sandbox.directory("out/web.jwt")))
        #expect(sandbox.stop() == 0)
    }
}
