import Foundation
import TestSupport
import Testing

/// A status socket that the service manager listens on, before and after the daemon.
@Suite(.waits) struct SocketActivationTests {
    /// Becomes the daemon with listening sockets as systemd passes them: `NAME=PATH`, with the name `metrics` a TCP socket
    /// whose port is written to that path, without a path a TCP socket too. `NAME=@ADDRESS` is one on that address,
    /// whether the machine has it or not.
    static let passing = """
        import os, socket, sys
        names = []
        for number, argument in enumerate(sys.argv[1].split(','), 3):
            name, path = argument.split('=')
            isAddress = path.startswith('@')
            isLocal = path and not isAddress and name != 'metrics'
            address = path[1:] if isAddress else '127.0.0.1'
            family = socket.AF_UNIX if isLocal else socket.AF_INET6 if ':' in address else socket.AF_INET
            listener = socket.socket(family)
            if not isLocal: listener.setsockopt(socket.IPPROTO_IP, 15, 1)  # IP_FREEBIND
            listener.bind(path if isLocal else (address, 0))
            if path and not isLocal and not isAddress:
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
        let sandbox = try Sandbox(clients: "web")
        let passed = sandbox.directory("passed.sock")
        let sockets = "other=\(sandbox.directory("other.sock")),status=\(passed)"
        try sandbox.start(under: ["/usr/bin/python3", "-c", Self.passing, sockets])
        #expect(try sandbox.command("status", "--socket", passed).status == 0)
        // It makes none of its own beside it.
        #expect(!FileManager.default.fileExists(atPath: sandbox.socket))
        #expect(try sandbox.log().contains("the daemon does not use the socket other that systemd passed"))
        #expect(sandbox.stop() == 0)
        #expect(FileManager.default.fileExists(atPath: passed))
    }

    /// Who asks over TCP cannot be told, and could ask for anything.
    @Test func aTCPSocketIsNoStatusSocket() throws {
        let sandbox = try Sandbox(clients: "web")
        try sandbox.start(under: ["/usr/bin/python3", "-c", Self.passing, "status="])
        #expect(try sandbox.log().contains("the socket status from systemd: the socket cannot be used: not a Unix"))
        #expect(sandbox.isThere("out/web.jwt"))
        #expect(sandbox.stop() == 0)
    }

    /// Whoever wrote such a unit counts on a port that is open to others, or does not know that it is: nothing is served,
    /// and not without a word. The third is of a range for documentation (RFC 5737), which no machine has.
    @Test(arguments: ["0.0.0.0", "::", "192.0.2.1"]) func metricsThatOtherMachinesReachAreRefused(address: String)
        throws
    {
        let sandbox = try Sandbox(clients: "web")
        let manager = try NotifySocket(at: sandbox.directory("manager"))
        let sockets = "status=\(sandbox.directory("passed.sock")),metrics=@\(address)"
        // One that serves all the same is ended, with another status.
        let ended = try run(
            [
                "timeout", "--signal=KILL", "30", "/usr/bin/python3", "-c", Self.passing, sockets, sandbox.binary,
                "run", "--config", sandbox.configuration, "--socket", sandbox.socket,
            ], environment: ["NOTIFY_SOCKET": manager.path])
        let words =
            "the socket metrics from systemd is on an address that other machines reach; write a loopback one into its "
            + "unit, such as ListenStream=127.0.0.1:9467"
        #expect(ended.status == 78, "\(ended.complaints)")
        #expect(ended.complaints == words + "\n")
        // `systemctl status` says it too.
        try manager.wait(for: "STATUS=" + words, while: { false })
        // Before anything was done.
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.directory("out")) == [])
    }
}
