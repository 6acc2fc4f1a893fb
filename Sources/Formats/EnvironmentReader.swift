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
    /// The same in dash, where the two differ.
    case dash
    /// python-dotenv.
    case pythonDotenv
    /// dotenv for JavaScript.
    case javaScriptDotenv
    /// dotenv for Ruby.
    case rubyDotenv
    /// Node's `--env-file`.
    case node
    /// `env_file:` of docker compose.
    case compose
    /// `docker --env-file`: it knows neither quotes nor `export`, so a file with either is not meant for it.
    case docker

    var name: String {
        switch self {
        case .systemd: "systemd"
        case .oldSystemd: "systemd before version 254"
        case .bash: "a shell"
        case .dash: "dash"
        case .pythonDotenv: "python-dotenv"
        case .javaScriptDotenv: "dotenv (JavaScript)"
        case .rubyDotenv: "dotenv (Ruby)"
        case .node: "Node"
        case .compose: "docker compose"
        case .docker: "docker"
        }
    }

    /// The variables in the file, in its order; nil when the program rejects the whole file.
    func entries(in bytes: [UInt8]) -> [EnvironmentEntry]? {
        var lines = EnvironmentLines(bytes)
        return switch self {
        case .systemd: lines.systemd(continuesComments: false)
        case .oldSystemd: lines.systemd(continuesComments: true)
        case .bash: ShellReader.entries(in: bytes, isDash: false)
        case .dash: ShellReader.entries(in: bytes, isDash: true)
        case .pythonDotenv: lines.pythonDotenv()
        case .javaScriptDotenv: lines.dotenv(backticks: true)
        case .rubyDotenv: lines.dotenv(backticks: false)
        case .node: lines.node()
        case .compose: lines.compose()
        case .docker: lines.docker()
        }
    }
}

/// One assignment as a reader finds it.
struct EnvironmentEntry: Hashable {
    /// The variable. A name that no variable can have is for something else that an edit must not remove, such as a
    /// command.
    var name: String
    /// From the name, or the `export` before it, to the end of the value.
    var range: Range<Int>
}
