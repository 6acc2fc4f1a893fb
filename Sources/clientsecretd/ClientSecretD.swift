import ArgumentParser
import Daemon
import Glibc

/// The program: the command line becomes one of the commands, and whatever that throws an exit code.
@main
struct ClientSecretD: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clientsecretd",
        abstract: "Keeps the client secrets of Sign in with Apple fresh.",
        discussion: """
            Mints the secret (a JWT signed with Apple's .p8 key) ahead of its expiry, replaces it where the application \
            reads it and tells the application. Begin with 'clientsecretd init', then 'clientsecretd check'.
            """,
        version: Version.current,
        subcommands: [
            RunCommand.self, CheckCommand.self, InitCommand.self, MintCommand.self, InspectCommand.self,
            StatusCommand.self, RenewCommand.self, ReloadCommand.self,
        ])

    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let failure as Failure {
            if !failure.message.isEmpty { Streams.complain(failure.message) }
            Glibc.exit(failure.code.rawValue)
        } catch {
            exit(withError: error)
        }
    }
}
