/// A program that reads environment files, as far as the place of each variable is concerned.
///
/// Programs disagree about quotes, comments and the ends of lines. A file is edited only if all programs that accept it
/// find our variable in the same lines, so each of them is modelled here. A reader answers nil for a file that the program
/// rejects as a whole. The time is proportional to the file's size.
enum EnvironmentReader: CaseIterable {
    /// systemd's `EnvironmentFile=` since version 254.
    case systemd
    /// Before version 254, a backslash at the end of a comment continues the comment.
    case oldSystemd
    /// bash: `. FILE`.
    case bash
    /// The same in dash, if the two differ.
    case dash
    /// python-dotenv.
    case pythonDotenv
    /// Readers of Python that end a line as `str.splitlines` does, such as django-environ. Only that is modelled: all else
    /// is python-dotenv's.
    case pythonLines
    /// dotenv for JavaScript.
    case javaScriptDotenv
    /// dotenv for Ruby.
    case rubyDotenv
    /// phpdotenv.
    case phpDotenv
    /// Node's `--env-file`.
    case node
    /// Node 20, which differs from all other readers only in its names (``LineReader/node20()``).
    case oldNode
    /// `env_file:` of docker compose.
    case compose
    /// `docker --env-file`, which supports no quotes and no `export`. So a file with quotes, or that exports all its variables,
    /// is not meant for it.
    case docker

    var name: String {
        switch self {
        case .systemd: "systemd"
        case .oldSystemd: "systemd before version 254"
        case .bash: "a shell"
        case .dash: "dash"
        case .pythonDotenv: "python-dotenv"
        case .pythonLines: "django-environ"
        case .javaScriptDotenv: "dotenv (JavaScript)"
        case .rubyDotenv: "dotenv (Ruby)"
        case .phpDotenv: "phpdotenv"
        case .node: "Node"
        case .oldNode: "Node 20"
        case .compose: "docker compose"
        case .docker: "docker"
        }
    }

    /// The variables in the file, in its order; nil when the program rejects the whole file.
    func entries(in bytes: [UInt8]) -> [EnvironmentEntry]? {
        switch self {
        case .systemd: return read(bytes) { $0.systemd(continuesComments: false) }
        case .oldSystemd: return read(bytes) { $0.systemd(continuesComments: true) }
        case .bash: return ShellReader.entries(in: bytes, isDash: false)
        case .dash: return ShellReader.entries(in: bytes, isDash: true)
        case .pythonDotenv: return read(bytes, .python) { $0.pythonDotenv() }
        case .pythonLines: return read(bytes, .pythonLines) { $0.pythonDotenv() }
        case .javaScriptDotenv: return read(bytes, .javaScript) { $0.dotenv(backticks: true) }
        case .rubyDotenv: return read(bytes, skipsMark: true) { $0.dotenv(backticks: false) }
        case .phpDotenv: return read(bytes, skipsMark: true) { $0.phpDotenv() }
        case .node: return read(bytes) { $0.node(stopsWithoutName: false) }
        case .oldNode: return read(bytes) { $0.node(stopsWithoutName: true) }
        case .compose: return read(bytes, .go, skipsMark: true) { $0.compose() }
        case .docker: return read(bytes, .go, skipsMark: true) { $0.docker() }
        }
    }

    private func read(
        _ bytes: [UInt8], _ blanks: UnicodeBlanks = .none, skipsMark: Bool = false,
        _ entries: (inout LineReader) -> [EnvironmentEntry]?
    ) -> [EnvironmentEntry]? {
        var lines = LineReader(bytes, blanks: blanks, skipsMark: skipsMark)
        return entries(&lines)
    }
}

/// One assignment as a reader finds it.
struct EnvironmentEntry: Hashable {
    /// The variable, as bytes: a Swift string counts the Kelvin sign as the letter K. A name that no variable can have is for
    /// something else that an edit must not remove, such as a command.
    var name: [UInt8]
    /// From the name, or the `export` before it, to the end of the value.
    var range: Range<Int>
}
