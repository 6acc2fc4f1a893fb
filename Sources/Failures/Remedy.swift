/// What helps against a failure: words, and where one can do it the one command that root types.
///
/// Shown as "words: command". A command gives nothing to another user than it belongs to, and never makes usable what a
/// stranger has laid somewhere: that is looked at and removed.
package struct Remedy: Hashable, Sendable, CustomStringConvertible {
    /// What to do, without the command; nil where the command says it all.
    package let words: String?
    /// For POSIX's sh, to be typed as it stands; nil where there is something to be decided first.
    package let command: String?

    /// - Parameter words: on one line; what others chose in it is escaped.
    package static func say(_ words: String) -> Remedy {
        Remedy(words: Printable.line(words), command: nil)
    }

    /// The words, and the command that does it.
    package static func say(_ words: String, run command: ShellCommand) -> Remedy {
        Remedy(words: Printable.line(words), command: command.text)
    }

    package static func run(_ command: ShellCommand) -> Remedy {
        Remedy(words: command.text == nil ? byHand : nil, command: command.text)
    }

    /// One after the other, as long as they succeed.
    package static func run(_ commands: [ShellCommand]) -> Remedy {
        .run(commands.dropFirst().reduce(commands.first ?? "true") { $0.then($1) })
    }

    /// What somebody who is not to be trusted has put at `path`: it is never given an owner that would make it trusted.
    package static func strangers(_ path: String) -> Remedy {
        .say("somebody else has put it there: look at it with ls -ld and remove it", run: "rm \(path)")
    }

    /// The same of a directory.
    package static func strangersDirectory(_ path: String) -> Remedy {
        .say(
            "somebody else has put it there: look at it with ls -l and move it away",
            run: "mv -nT \(path) \(path + ".foreign")")
    }

    private static let byHand = "by hand, for a name in it holds characters that no command line should hold"

    package var description: String {
        [words, command].compactMap { $0 }.joined(separator: ": ")
    }
}
