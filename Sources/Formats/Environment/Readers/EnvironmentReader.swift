/// A program that reads environment files, as far as the place of each variable is concerned.
///
/// Programs disagree about quotes, comments and the ends of lines. A file is edited only if all programs that accept it
/// find our variable in the same lines, so each of them is modelled here. A reader answers nil for a file that the program
/// rejects as a whole. The time is proportional to the file's size.
struct EnvironmentReader: Sendable {
    /// As messages call it.
    let name: String
    private let read: @Sendable ([UInt8]) -> [EnvironmentEntry]?

    /// Whether it carries the file out as a script.
    var isShell: Bool { name == Self.bash.name || name == Self.dash.name }

    static let all = [
        systemd, oldSystemd, bash, dash, pythonDotenv, pythonLines, javaScriptDotenv, rubyDotenv, phpDotenv, node,
        oldNode, compose, docker,
    ]

    /// systemd's `EnvironmentFile=` since version 254.
    static let systemd = of("systemd") { $0.systemd(continuesComments: false) }
    /// Before version 254, a backslash at the end of a comment continues the comment.
    static let oldSystemd = of("systemd before version 254") { $0.systemd(continuesComments: true) }
    /// bash: `. FILE`.
    static let bash = EnvironmentReader(name: "a shell") { ShellReader.entries(in: $0, isDash: false) }
    /// The same in dash, if the two differ.
    static let dash = EnvironmentReader(name: "dash") { ShellReader.entries(in: $0, isDash: true) }
    static let pythonDotenv = of("python-dotenv", .python) { $0.pythonDotenv() }
    /// Readers of Python that end a line as `str.splitlines` does, such as django-environ. Only that is modelled: all else
    /// is python-dotenv's.
    static let pythonLines = of("django-environ", .pythonLines) { $0.pythonDotenv() }
    static let javaScriptDotenv = of("dotenv (JavaScript)", .javaScript) { $0.dotenv(backticks: true) }
    static let rubyDotenv = of("dotenv (Ruby)", skipsMark: true) { $0.dotenv(backticks: false) }
    static let phpDotenv = of("phpdotenv", skipsMark: true) { $0.phpDotenv() }
    /// Node's `--env-file`.
    static let node = of("Node") { $0.node(stopsWithoutName: false) }
    /// Node 20, which differs from all other readers only in its names (``LineReader/node20()``).
    static let oldNode = of("Node 20") { $0.node(stopsWithoutName: true) }
    /// `env_file:` of docker compose.
    static let compose = of("docker compose", .go, skipsMark: true) { $0.compose() }
    /// `docker --env-file`, which supports no quotes and no `export`. So a file with quotes, or that exports all its variables,
    /// is not meant for it.
    static let docker = of("docker", .go, skipsMark: true) { $0.docker() }

    /// The variables in the file, in its order; nil when the program rejects the whole file.
    func entries(in bytes: [UInt8]) -> [EnvironmentEntry]? { read(bytes) }

    /// A reader that is no shell.
    private static func of(
        _ name: String, _ blanks: UnicodeBlanks = .none, skipsMark: Bool = false,
        _ entries: @escaping @Sendable (inout LineReader) -> [EnvironmentEntry]?
    ) -> EnvironmentReader {
        EnvironmentReader(name: name) { bytes in
            var lines = LineReader(bytes, blanks: blanks, skipsMark: skipsMark)
            return entries(&lines)
        }
    }
}
