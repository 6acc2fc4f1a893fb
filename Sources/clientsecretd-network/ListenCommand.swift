import ArgumentParser
import Failures
import Glibc
import Linux

/// `listen`: runs a role for each connection to a socket if no systemd does, as in a pod.
struct ListenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Run a role for each connection to a Unix socket, without systemd.",
        discussion: """
            The socket is push/TARGET.sock, store.sock or verify.sock, next to the daemon's status socket. Only this \
            program's user may connect, so it must run as the daemon's user. It serves one connection at a time, \
            each in a new process.

            Examples:
              clientsecretd-network listen /run/clientsecretd/push/shop.sock push shop
              clientsecretd-network listen /run/clientsecretd/verify.sock verify
            """)

    @Argument(help: ArgumentHelp("The socket for the daemon.", valueName: "socket"), completion: .file())
    var socket: String

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("A role and its arguments.", valueName: "role"))
    var role: [String]

    mutating func validate() throws {
        // Parsed here too, so that an error is reported at the start and not at the first connection.
        if try NetworkProgram.parseAsRoot(role) is ListenCommand { throw ValidationError("listen is not a role") }
    }

    func run() throws {
        // As PID 1 of a container a process ignores signals for which it has no handler.
        signal(SIGTERM) { _ in _exit(0) }
        signal(SIGINT) { _ in _exit(0) }
        guard let program = OwnProgram.path() else { throw ValidationError("/proc is needed, and is not mounted") }
        let directory = RealPath.directory(of: socket)
        if !directory.isEmpty, unsafe mkdir(directory, 0o755) != 0, errno != EEXIST {
            throw ValidationError("cannot create \(Printable.name(directory)): \(ErrorNumber.words(for: errno))")
        }
        let listener = try ListeningSocket(path: socket, mode: 0o600)
        while true {
            _ = Descriptor.ready([listener.raw], atMost: nil)
            guard let connection = try listener.accept() else { continue }
            serve(connection, program)
        }
    }

    /// Runs the role with a connection as its standard input and output, and waits for its end.
    private func serve(_ connection: consuming Descriptor, _ program: String) {
        do throws(SystemError) {
            let child = try AttachedChild([program] + role, input: connection.raw, output: connection.raw)
            // After an exit status the role itself has said why it failed.
            if case .signalled(let signal) = child.end() { complain("was ended by signal \(signal)") }
        } catch {
            complain("cannot be started: \(error.words)")
        }
    }

    private func complain(_ what: String) {
        RoleOutput.complain("\(role.joined(separator: " ")) \(what)")
    }
}
