/// A command line for POSIX's sh that root may type as printed.
///
/// It is built only from text in the program, as `StaticString` guarantees, and from words that are quoted if needed. So a shell
/// sees text that was found at run time only as a word. Only this module builds commands.
///
/// Those that change something are built from the component that failed, as it was found, and are nil if they would not
/// be safe:
/// - An existing directory keeps its owner and mode.
/// - A key becomes readable only to the daemon's user. Nothing is given to a user unless the configuration lets that user write
///   or read it.
/// - A link that a stranger placed is removed, never followed. Other files of a stranger are not touched.
/// - If another user than root controls a directory on the way, the command runs with that user's rights.
package struct ShellCommand: Hashable, Sendable {
    package let text: String

    private init(text: String) {
        self.text = text
    }

    init(constant text: StaticString) {
        self.init(text: text.description)
    }

    /// Nil if one of the words may not be pasted.
    init?(_ line: Line) {
        guard let text = line.text else { return nil }
        self.init(text: text)
    }

    /// A line in the making. Text interpolated into it becomes one word, quoted if needed; a command becomes a part of it.
    struct Line: ExpressibleByStringInterpolation {
        fileprivate let text: String?

        init(stringLiteral text: StaticString) {
            self.text = text.description
        }

        init(stringInterpolation parts: StringInterpolation) {
            text = parts.isPasteable ? parts.text : nil
        }

        struct StringInterpolation: StringInterpolationProtocol {
            fileprivate var text = ""
            fileprivate var isPasteable = true

            init(literalCapacity: Int, interpolationCount: Int) {}

            mutating func appendLiteral(_ literal: StaticString) {
                text += literal.description
            }

            mutating func appendInterpolation(_ word: String) {
                isPasteable = isPasteable && ShellWord.isPasteable(word)
                text += ShellWord.quoted(word)
            }

            /// Words with blanks between them.
            mutating func appendInterpolation(_ words: [String]) {
                isPasteable = isPasteable && words.allSatisfy(ShellWord.isPasteable)
                text += words.map(ShellWord.quoted).joined(separator: " ")
            }

            mutating func appendInterpolation(_ command: ShellCommand) {
                text += command.text
            }
        }
    }

    /// This command, then `next` if this one succeeds; nil if there is no `next`.
    package func then(_ next: ShellCommand?) -> ShellCommand? {
        next.map { ShellCommand(text: "\(text) && \($0.text)") }
    }

    /// This command, then `other` if this one fails.
    func or(_ other: ShellCommand) -> ShellCommand { ShellCommand(text: "\(text) || \(other.text)") }

    /// This command, whose output `next` reads.
    func pipe(_ next: ShellCommand) -> ShellCommand { ShellCommand(text: "\(text) | \(next.text)") }

    /// This command as one part of another, even if it has several parts.
    var grouped: ShellCommand { ShellCommand(text: "{ \(text); }") }

    /// This command, but all users may read the files and directories that it creates, with any umask of root. A service that
    /// reads them may run as another user.
    var readableByAll: ShellCommand { ShellCommand(text: "(umask 022 && \(text))") }

    /// With the rights of the user that controls the directories on the way.
    func run(as keeper: PathComponent.User) -> ShellCommand? {
        keeper.id == 0 ? self : ShellCommand("runuser -u \(keeper.name) -- \(self)")
    }
}
