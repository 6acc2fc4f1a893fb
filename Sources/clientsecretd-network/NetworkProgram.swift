import ArgumentParser
import Glibc
import Linux

/// The only program of the project that opens a network connection. Each role is a filter: one request on standard input,
/// one answer on standard output, both JSON.
@main
struct NetworkProgram: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clientsecretd-network",
        abstract: "Connects to Apple, APIs and etcd for clientsecretd, which has no network.",
        discussion: """
            A socket of systemd starts it, or a command of clientsecretd with your rights. Each role reads a request \
            from standard input and writes an answer to standard output. The address comes from the command line or \
            the configuration, never from a request.

            Examples:
              clientsecretd-network verify <request.json
              clientsecretd-network push production <request.json
            """,
        subcommands: [
            VerifyRole.self, TokenRole.self, RevokeRole.self, KeysRole.self, PushRole.self, StoreRole.self,
            ListenCommand.self,
        ])

    static func main() {
        StandardDescriptors.reserve()
        do {
            let words = Array(OwnProgram.arguments.dropFirst())
            // libcurl would write there the keys that decrypt the connection, secrets and tokens included.
            unsafe unsetenv("SSLKEYLOGFILE")
            // A service that lost its arguments must not seem to have done something.
            guard !words.isEmpty else { end(64, "no role given; to list the roles: clientsecretd-network --help") }
            var role = try parseAsRoot(words)
            // A secret passes through: no core dump, no inspection by other processes of the same user.
            try Hardening.forbidInspection()
            try Hardening.forbidNewPrivileges()
            try role.run()
        } catch let error as SystemError {
            end(1, error.description)
        } catch {
            let code = exitCode(for: error)
            if code.isSuccess {
                do {
                    try RoleOutput.answer(help: fullMessage(for: error))
                    Glibc.exit(0)
                } catch {
                    end(1, fullMessage(for: error))
                }
            }
            end(code.rawValue, fullMessage(for: error))
        }
    }

    private static func end(_ code: Int32, _ message: String) -> Never {
        RoleOutput.complain(message)
        Glibc.exit(code)
    }
}
