/// The remedy for a failure: one command that root may type as printed and that fixes it, or words.
///
/// Shown as "words: command". A command that fixes nothing by itself, because it only shows something or because the words
/// ask for more, is shown in parentheses.
package struct Remedy: Hashable, Sendable, CustomStringConvertible {
    /// The advice; nil if the command is enough.
    package let words: String?
    /// For POSIX's sh; nil if no command that is safe fixes the failure, or the operator has to decide something first.
    package let command: String?

    /// - Parameters:
    ///   - words: on one line; unprintable characters in it are escaped.
    ///   - look: a command that goes with the words and is not the fix.
    package static func say(_ words: String, see look: ShellCommand? = nil) -> Remedy {
        Remedy(words: Printable.line(words) + (look.map { " (\($0.text))" } ?? ""), command: nil)
    }

    /// The command that carries out the words. Without a command, only the words.
    package static func say(_ words: String, run command: ShellCommand?) -> Remedy {
        Remedy(words: Printable.line(words), command: command?.text)
    }

    /// The command; without one, the words.
    package static func run(_ command: ShellCommand?, otherwise words: String) -> Remedy {
        command.map { Remedy(words: nil, command: $0.text) } ?? .say(words)
    }

    package static func run(_ command: ShellCommand) -> Remedy {
        Remedy(words: nil, command: command.text)
    }

    /// A remedy that this program's daemon reports.
    ///
    /// - Parameter command: the end of `text`; nil if it is all words.
    package static func reported(_ text: String, command: String?) -> Remedy {
        guard let command, text.hasSuffix(command) else { return .say(text) }
        let words = text.dropLast(command.count)
        guard words.hasSuffix(": ") else { return words.isEmpty ? Remedy(words: nil, command: command) : .say(text) }
        return Remedy(words: Printable.line(String(words.dropLast(2))), command: command)
    }

    /// For a file, directory or socket that an untrusted user put at `path`. Another user may need the file, so there is no
    /// command.
    package static func strangers(_ path: String) -> Remedy {
        .say("another user has put it there: look at it, then remove it or use another path", see: .list(path))
    }

    /// For a file that the user of a command may not read.
    package static let readAsAnotherUser = Remedy.say("use sudo, or run it as a user who may read the file")

    /// For a disk that is full, or a quota that is used up.
    ///
    /// - Parameters:
    ///   - directory: where space is missing; nil if that is not known.
    ///   - user: the user that has used up the quota, in words; nil: it is no quota.
    package static func freeSpace(in directory: String?, orRaiseQuotaOf user: String? = nil) -> Remedy {
        .say(
            "free some space" + (user.map { ", or raise the quota of \($0)" } ?? ""),
            see: directory.flatMap(ShellCommand.showSpace))
    }

    /// For a process that keeps what it was given at its start.
    package static func restarting(_ unit: String) -> Remedy {
        .run(.restart(unit), otherwise: "restart \(unit)")
    }

    /// For a helper that does not answer: it is stopped, or waits for its disk or network.
    package static func forStuckService(_ unit: String) -> Remedy {
        .say("see what it does; if it is stopped, restart it", see: .status(of: unit))
    }

    /// Has the daemon renew a client's secret; nil: all.
    package static func renew(_ client: String?) -> Remedy { asking(.renew(client)) }

    /// Has the daemon repeat failed notifications for a client's secret; nil: for all clients.
    package static func deliver(_ client: String?) -> Remedy {
        asking(.deliver(client), otherwise: "the daemon runs them again when it starts, and so does \"run --once\"")
    }

    /// Without a daemon to ask, the obstacle is unknown. A single run might be refused too, or belong to another user.
    ///
    /// - Parameter words: the remedy then, unless it has an obstacle.
    private static func asking(_ command: ShellCommand?, otherwise words: String? = nil) -> Remedy {
        guard CommandContext.current.hasDaemon, let command else {
            let look = "see what the daemon would do, and what is in its way"
            return .say([words, look].compactMap(\.self).joined(separator: "; "), see: .check)
        }
        return .run(command)
    }

    package var description: String {
        [words, command].compactMap { $0 }.joined(separator: ": ")
    }
}
