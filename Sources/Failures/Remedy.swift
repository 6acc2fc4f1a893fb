/// The remedy for a failure: words and, where one command can do it, the command for root to type.
///
/// Shown as "words: command". A command never gives anything to a user other than its owner, and never makes usable
/// what an untrusted user has put somewhere: that is inspected and removed.
package struct Remedy: Hashable, Sendable, CustomStringConvertible {
    /// What to do, without the command; nil where the command is enough.
    package let words: String?
    /// For POSIX's sh, to be typed as it stands; nil where the operator has to decide something first.
    package let command: String?

    /// - Parameter words: on one line; unprintable characters in it are escaped.
    package static func say(_ words: String) -> Remedy {
        Remedy(words: Printable.line(words), command: nil)
    }

    /// Words, and the command that does what they say.
    package static func say(_ words: String, run command: ShellCommand) -> Remedy {
        Remedy(words: Printable.line(words), command: command.text)
    }

    package static func run(_ command: ShellCommand) -> Remedy {
        Remedy(words: command.text == nil ? byHand : nil, command: command.text)
    }

    /// The commands in sequence, up to the first that fails.
    package static func run(_ commands: [ShellCommand]) -> Remedy {
        .run(commands.dropFirst().reduce(commands.first ?? "true") { $0.then($1) })
    }

    /// For a file that an untrusted user put at `path`: it is never given an owner that would make it trusted.
    package static func othersFile(_ path: String) -> Remedy {
        .say("somebody else has put it there: look at it with ls -ld and remove it", run: "rm \(path)")
    }

    /// The same for a directory.
    package static func othersDirectory(_ path: String) -> Remedy {
        .say(
            "somebody else has put it there: look at it with ls -l and move it away",
            run: "mv -nT \(path) \(path + ".foreign")")
    }

    private static let byHand = "by hand, for a name in it holds characters that no command line should hold"

    package var description: String {
        [words, command].compactMap { $0 }.joined(separator: ": ")
    }
}
