import AppleClientSecret
import Failures
import Glibc

/// The abilities of standard output. Every rule about width, colour and characters is stated here and nowhere else.
struct Terminal: Equatable {
    /// How many characters fit into a line; nil for a pipe or a file.
    var columns: Int?
    /// How many lines fit; nil for a pipe or a file.
    var rows: Int?
    /// Whether a display can be redrawn in place: not on a dumb terminal, and not in a pipe.
    var redraws: Bool
    /// Colour only on a terminal, never under `NO_COLOR` (https://no-color.org) and never on a dumb one.
    var colour: Bool
    /// Whether characters beyond ASCII can be shown.
    var unicode: Bool

    /// A terminal that does not report its size is treated as a VT100.
    static let assumedColumns = 80
    static let assumedRows = 24

    var isInteractive: Bool { rows != nil }

    /// - Parameter size: columns and rows of the terminal, zero if it does not report one; nil for no terminal.
    init(size: (columns: Int, rows: Int)?, environment: [String: String]) {
        if let size {
            columns = size.columns > 0 ? size.columns : Self.assumedColumns
            rows = size.rows > 0 ? size.rows : Self.assumedRows
        }
        redraws = size != nil && environment["TERM"] != "dumb"
        colour = redraws && (environment["NO_COLOR"] ?? "").isEmpty
        unicode = Self.isUTF8(environment)
    }

    /// Standard output at the time of the call.
    static func current(_ environment: [String: String] = OwnEnvironment.current) -> Terminal {
        guard isatty(STDOUT_FILENO) == 1 else { return Terminal(size: nil, environment: environment) }
        var window = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0 else {
            return Terminal(size: (0, 0), environment: environment)
        }
        return Terminal(size: (Int(window.ws_col), Int(window.ws_row)), environment: environment)
    }

    /// The first variable that is set and not empty decides, as in locale(7).
    private static func isUTF8(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        let lower = locale.lowercased()
        return lower.contains("utf-8") || lower.contains("utf8")
    }

    /// `text` with `?` for every control character, and for every character beyond ASCII unless the locale is UTF-8.
    func shown(_ text: String) -> String {
        // Nearly all text: a report on thousands of clients takes noticeably longer without this.
        if text.utf8.allSatisfy(\.isASCIIPrintable) { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    scalar.isUnprintable || (!unicode && scalar.value > 0x7F) ? "?" : scalar
                }))
    }

    /// How many rows a line takes up: one that is too long continues in the next row.
    func height(of pieces: [Piece]) -> Int {
        let length = pieces.reduce(0) { $0 + $1.text.count }
        guard let columns, length > columns else { return 1 }
        return (length + columns - 1) / columns
    }

    /// A line with its colours, if the terminal shows them.
    func line(_ pieces: [Piece]) -> String {
        pieces.map { piece in
            guard colour, let style = piece.style, !piece.text.isEmpty else { return shown(piece.text) }
            return "\u{1B}[\(style.rawValue)m\(shown(piece.text))\u{1B}[0m"
        }.joined()
    }
}
