import AppleClientSecret
import Monitoring
import Rotation

/// What is wrong, in paragraphs: of the daemon itself, and of its clients, the worst first. Each says what happened, since
/// when, when it is tried again, and what helps.
struct StatusProblems {
    var document: StatusDocument
    /// The document's, the worst first.
    var clients: [StatusDocument.Client]
    var now: WallTime

    /// Each a sentence and, indented below it, what belongs to it.
    var blocks: [[String]] {
        ofDaemon + ofClients
    }

    private var ofDaemon: [[String]] {
        var blocks: [[String]] = []
        let isClients = clients.contains { $0.reason == document.reason }
        if let reason = document.reason, !isClients {
            blocks.append(lines("clientsecretd is \(document.state)", reason))
        }
        // Every mistake of a configuration that would not start; the reason of the whole may name the first one.
        let mistakes = document.config.error?.split(separator: "\n").map(String.init) ?? []
        guard let first = mistakes.first else { return blocks }
        if !isClients, document.reason?.contains(first.prefix { $0 != ";" }) == true {
            blocks[0] += mistakes.dropFirst().map { "  " + $0 }
        } else {
            blocks.append(
                ["The configuration in \(document.config.path) would not start:"] + mistakes.map { "  " + $0 })
        }
        return blocks
    }

    /// Clients with the same trouble, such as a key that they share, are told of together.
    private var ofClients: [[String]] {
        var order: [Trouble] = []
        var names: [Trouble: [String]] = [:]
        for client in clients where client.state != "ok" {
            let (reason, isRenewed) = commonReason(of: client)
            let trouble = Trouble(
                state: client.state, reason: reason, isRenewed: isRenewed, parts: parts(of: client))
            if names[trouble] == nil { order.append(trouble) }
            names[trouble, default: []].append(client.name)
        }
        return order.map { trouble in
            let names = names[trouble] ?? []
            // Without a name all are renewed.
            let name = trouble.isRenewed && names.count == 1 ? " " + names.joined() : ""
            return lines(Self.subject(names) + trouble.state, trouble.reason + name) + trouble.parts
        }
    }

    private struct Trouble: Hashable {
        let state: String
        let reason: String
        /// What helps is a renewal, whose command ends with the client's name.
        let isRenewed: Bool
        /// Outputs and actions with troubles of their own.
        let parts: [String]
    }

    /// How many clients are named before the others are counted.
    private static let namedAtMost = 3

    private static func subject(_ names: [String]) -> String {
        guard names.count > 1 else { return "\(names.joined()) is " }
        let named = names.prefix(names.count > namedAtMost + 1 ? namedAtMost : names.count - 1)
        let others = names.count - named.count
        return named.joined(separator: ", ") + " and "
            + (others == 1 ? names.last ?? "" : "\(others.grouped) more") + " are "
    }

    /// The reason without the name that stands before it here anyway, and without the one at the end of what helps.
    private func commonReason(of client: StatusDocument.Client) -> (String, isRenewed: Bool) {
        var reason = client.reason ?? "no reason is known"
        let subject = "client \"\(client.name)\": "
        if reason.hasPrefix(subject) { reason.removeFirst(subject.count) }
        for command in ["; clientsecretd renew", "; clientsecretd renew --deliver-only"] {
            if reason.hasSuffix("\(command) \(client.name)") {
                return (String(reason.dropLast(client.name.count + 1)), true)
            }
        }
        return (reason, false)
    }

    private func parts(of client: StatusDocument.Client) -> [String] {
        let all =
            client.outputs.map { ($0.path, $0.state, $0.error) }
            + client.actions.map { ($0.action, $0.state, $0.error) }
        return all.compactMap { name, state, error in
            guard let error, client.reason?.contains(error) != true else { return nil }
            return "  \(name) is \(state): \(TimeWords.annotated(error, now: now))"
        }
    }

    /// A reason as the daemon puts it ("what happened; since T; next attempt T; what helps"), a line for each part.
    private func lines(_ subject: String, _ reason: String) -> [String] {
        let parts = reason.split(separator: "; ")
        let since = parts.firstIndex { part in
            part.hasPrefix("since ") && WallTime(rfc3339: String(part.dropFirst("since ".count))) != nil
        }
        guard let since else { return ["\(subject): \(TimeWords.annotated(reason, now: now))"] }
        let isTriedAgain = since + 1 < parts.count && parts[since + 1].hasPrefix("next attempt ")
        let help = since + (isTriedAgain ? 2 : 1)
        let times = parts[since..<help].joined(separator: "; ")
        var lines = [
            "\(subject): \(TimeWords.annotated(parts[..<since].joined(separator: "; "), now: now))",
            "  " + TimeWords.annotated(times, now: now),
        ]
        if help < parts.count { lines.append("  what helps: " + parts[help...].joined(separator: "; ")) }
        return lines
    }
}
