import AppleClientSecret
import ArgumentParser
import Daemon
import Failures
import Linux
import Model
import Rotation

/// The program: parses the command line into a command, runs it, and turns its error into an exit code.
@main
struct ClientSecretD: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clientsecretd",
        abstract: "Renews the client secrets of Sign in with Apple before they expire.",
        discussion: """
            A client secret is a JWT that is signed with Apple's .p8 key. clientsecretd renews it before it expires, \
            writes it where your app reads it, and restarts or reloads the app.

            Examples:
              clientsecretd init --from /srv/app/.env --now
              clientsecretd doctor
            """,
        version: Version.current,
        groupedSubcommands: [
            CommandGroup(
                name: "Set up",
                subcommands: [InitCommand.self, CheckCommand.self, MintCommand.self, PublicKeyCommand.self]),
            CommandGroup(name: "Run", subcommands: [RunCommand.self, RenewCommand.self, ReloadCommand.self]),
            CommandGroup(
                name: "Monitor and inspect",
                subcommands: [StatusCommand.self, HealthCommand.self, DoctorCommand.self, InspectCommand.self]),
            CommandGroup(
                name: "Apple",
                subcommands: [
                    VerifyCommand.self, AuthorizeURLCommand.self, ExchangeCommand.self, IDTokenCommand.self,
                    RefreshCommand.self, RevokeCommand.self,
                ]),
            CommandGroup(name: "Fleet", subcommands: [RolloutCommand.self]),
            CommandGroup(name: "Internal", subcommands: [WriteCommand.self, KeepConfigurationCommand.self]),
        ])

    static func main() {
        StandardDescriptors.reserve()
        let words = Array(OwnProgram.arguments.dropFirst())
        if mayHaveProcess(words) { CommandProcess.begin() }
        let code = carryOut(words)
        CommandOutput.complainOfGaps()
        CommandOutput.end(code.rawValue)
    }

    /// Whether another process may carry out a command, because it reads files to judge them: not what is started as a service, nor
    /// what uses the terminal, which the caller's process would give back too early. The daemon logs which process gave it an order.
    private static func mayHaveProcess(_ words: [String]) -> Bool {
        switch words.first {
        case "health", "check", "doctor", "verify", "inspect": true
        case "status": !words.contains("--watch")
        default: false
        }
    }

    private static func carryOut(_ words: [String]) -> CommandExitStatus {
        do {
            if let failure = refusal(of: words) { throw failure }
            var command = try parseAsRoot(words)
            command.setDiskTimeout()
            CommandContext(arguments: words, OwnEnvironment.current).use()
            try command.run()
            return .done
        } catch let failure as CommandFailure {
            return report(failure)
        } catch {
            let code = exitCode(for: error)
            guard code.isSuccess else {
                CommandOutput.complain(lines: quoting(words, in: fullMessage(for: error)))
                return CommandExitStatus(rawValue: code.rawValue) ?? .failed
            }
            // Help, the version or completions.
            do throws(CommandFailure) { try CommandOutput.answer(fullMessage(for: error)) } catch {
                return report(error)
            }
            return .done
        }
    }

    private static func report(_ failure: CommandFailure) -> CommandExitStatus {
        // These messages quote the command line, into which a key or token may have been pasted.
        let isQuoting = [.usage, .unreadable, .unreachable].contains(failure.code)
        let message = isQuoting ? Redaction.plain(failure.message) : failure.message
        if !message.isEmpty { CommandOutput.complain(message) }
        return failure.code
    }

    /// A message that quotes words of the command line, without a key or token that was pasted. Each word is on one line: a
    /// file name with a line break, which another user may have chosen, never looks like our own line.
    private static func quoting(_ words: [String], in message: String) -> String {
        words.flatMap { [$0, $0.split(separator: "=", maxSplits: 1).last.map(String.init) ?? ""] }
            .map(Redaction.plain).filter { $0.contains(where: \.isNewline) }
            .reduce(Redaction.plain(message)) { $0.replacing($1, with: Printable.line($1)) }
    }

    /// The failure for a command that does not exist, with the most similar one; nil for one that exists. No command at
    /// all is refused too: a caller that lost the arguments, such as a monitoring plugin, must not see success.
    static func refusal(of words: [String]) -> CommandFailure? {
        guard let first = words.first else {
            return CommandFailure(.usage, "no command given; to list the commands: clientsecretd --help")
        }
        let names = configuration.subcommands.compactMap { $0.configuration.commandName }
        // ArgumentParser's 'help' shows the general help for a command that does not exist, and exits 0.
        let named = first == "help" ? words.dropFirst().first : first
        guard let word = named, !word.hasPrefix("-"), word != "help", !names.contains(word) else { return nil }
        let near = suggestion(for: word, among: names)
        return CommandFailure(
            .usage, "there is no command \"\(word)\"; \(near ?? "to list the commands: clientsecretd --help")")
    }
}

extension ParsableCommand {
    /// Has a command give up on a file system that does not respond. Long-running commands that serve others wait, because their
    /// jobs have separate threads.
    fileprivate func setDiskTimeout() {
        switch self {
        case is RunCommand, is WriteCommand, is KeepConfigurationCommand: break
        // The limit after which these call a file unresponsive is the daemon's: a busy machine may take seconds for a large file.
        case is CheckCommand, is DoctorCommand, is InitCommand:
            DiskTimeout.begin(seconds: Int(Rotation.overdueAfter.count))
        case is HealthCommand: HealthCommand.limitTime()
        default: DiskTimeout.begin(seconds: 5)
        }
    }
}
