import AppleClientSecret
import Formats
import Rotation

/// The configuration that `init` writes.
struct FirstConfiguration {
    var team: TeamID
    /// Nil when the key file's name contains it.
    var keyID: KeyID?
    var key: AbsolutePath
    var name: ClientName
    var client: ClientID
    var output: AbsolutePath
    var format: any OutputFormat.Type
    var variable: String?
    /// The unit to restart when the secret has changed.
    var restarted: String?

    var text: String {
        var lines = [
            "# Made by clientsecretd init. 'clientsecretd check' says what the daemon would do with it.",
            "keys:",
            "  apple:",
            "    team_id: \(team)",
        ]
        if let keyID { lines.append("    key_id: \(keyID)") }
        lines += [
            "    file: \(Self.scalar(key.description))",
            "",
            "clients:",
            "  \(Self.scalar(name.description)):",
            "    client_id: \(client)",
            "    # How long a secret lives, and how long before its expiry it is replaced.",
            "    lifetime: 90d",
            "    renew_before: 30d",
            "    outputs:",
            "      - path: \(Self.scalar(output.description))",
            "        format: \(format.name)",
        ]
        if let variable { lines.append("        variable: \(variable)") }
        if let restarted { lines += ["    on_change:", "      - restart: \(Self.scalar(restarted))"] }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A YAML scalar (YAML 1.2, chapter 7): plain where no character has a meaning in YAML, else in single quotes,
    /// where only the quote itself has one. Neither a path nor a name holds a line break.
    private static func scalar(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 48...57: true
            default: "/._-".utf8.contains(byte)
            }
        }
        guard !isPlain || text.hasPrefix("-") || text.hasPrefix(".") else { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}
