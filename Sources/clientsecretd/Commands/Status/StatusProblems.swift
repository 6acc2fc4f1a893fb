import AppleClientSecret
import Failures
import Model
import StatusAPI

/// Paragraphs about the failures of the daemon and of its clients, the worst first. Each shows the problem, since when, the next
/// attempt, and the remedy.
struct StatusProblems {
    var snapshot: Snapshot
    /// The snapshot's clients, the worst first.
    var clients: [ClientView]
    var now: WallTime

    /// Each a sentence, with its details indented below it.
    var blocks: [[CommandMessage]] {
        ofDaemon + ofClients + ofSources
    }

    /// Sources that do not hold the current secret, of clients that are still ok.
    private var ofSources: [[CommandMessage]] {
        clients.compactMap { client in
            guard client.health == .ok, let source = client.source, source.state != .current else { return nil }
            let since = TimeWords.since(source.since, to: now)
            return ["\(client.name): its source \(source.place) is \(source.state.rawValue) \(since)"]
        }
    }

    private var ofDaemon: [[CommandMessage]] {
        // A reason that is a client's is reported with the client.
        let reason = snapshot.reasonReport.flatMap { reason in
            clients.contains { $0.reasonReport?.sentence == reason.sentence } ? nil : reason
        }
        // All errors of a configuration that would not start; a reason about it names the first one, and has the remedy of all.
        let errors = snapshot.configuration.error?.split(separator: "\n").map { CommandMessage("  \($0)") } ?? []
        let isAboutErrors = reason?.failure?.code == FailureCode.configurationRefused.rawValue
        let block = reason.map { reason in
            let problem = CommonProblem(health: snapshot.health, reason: reason.sentence, failure: reason.failure)
            return lines("clientsecretd is ", problem, more: isAboutErrors ? Array(errors.dropFirst()) : [])
        }
        var blocks = [block].compactMap(\.self)
        if !errors.isEmpty, !isAboutErrors {
            blocks.append(["The configuration in \(snapshot.configuration.path) would not start:"] + errors)
        }
        return blocks + otherProblems(than: reason).map { lines("clientsecretd is ", $0) }
    }

    /// The daemon's own problems that are neither its reason nor that of a client.
    private func otherProblems(than reason: ReasonReport?) -> [CommonProblem] {
        var shown = Set(clients.filter { $0.health != .ok }.compactMap { common($0).failure?.message })
        if let message = reason?.failure?.message { shown.insert(message) }
        return snapshot.problemReports.compactMap { report in
            // Its errors are listed.
            guard let failure = report.failure, !shown.contains(failure.message),
                failure.code != FailureCode.configurationRefused.rawValue
            else { return nil }
            return CommonProblem(health: .degraded, reason: "", failure: failure)
        }
    }

    /// Clients with the same failure, such as that of a key they share, are reported together.
    private var ofClients: [[CommandMessage]] {
        var order: [CommonProblem] = []
        var affected: [CommonProblem: [ClientView]] = [:]
        for client in clients where client.health != .ok {
            let problem = common(client)
            if affected[problem] == nil { order.append(problem) }
            affected[problem, default: []].append(client)
        }
        return order.map { problem in
            let affected = affected[problem] ?? []
            var shown = problem
            // Without a name it would also renew clients that are in order, and restart their applications.
            if problem.namesClient, affected.count == 1 || affected.count < clients.count {
                let names = affected.map { " \($0.name)" }.joined()
                shown.failure?.command? += names
                shown.failure?.remedy? += names
            }
            return lines(Self.subject(affected.map(\.name.description)), shown)
                + problem.parts.flatMap(\.lines)
        }
    }

    /// A reported problem of a client, or of the daemon.
    private struct CommonProblem: Hashable {
        var health: HealthState
        var reason: String
        /// Nil from a daemon that sends no parts, or if nothing is known.
        var failure: FailureReport?
        /// Whether the names of clients belong at the end of its command.
        var namesClient = false
        /// Outputs and actions with separate failures.
        var parts: [Part] = []
    }

    /// An output or an action with its own failure.
    private struct Part: Hashable {
        var words: String
        var remedy: Remedy?

        var lines: [CommandMessage] {
            let fix = remedy.map { CommandMessage("    fix: \($0)", command: $0.command) }
            return [CommandMessage(words)] + [fix].compactMap(\.self)
        }
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

    /// The client's report without its name, so that clients with the same failure compare equal.
    private func common(_ client: ClientView) -> CommonProblem {
        let subject = "client \"\(client.name)\": "
        func bare(_ text: String) -> String { text.hasPrefix(subject) ? String(text.dropFirst(subject.count)) : text }
        var problem = CommonProblem(
            health: client.health, reason: bare(client.reasonReport?.sentence ?? "the reason is not known"),
            failure: client.reasonReport?.failure, parts: parts(of: client))
        guard let failure = problem.failure else { return problem }
        problem.reason = ""
        problem.failure?.message = bare(failure.message)
        let suffix = " \(client.name)"
        if let command = failure.command, command.hasPrefix("clientsecretd renew"), command.hasSuffix(suffix) {
            problem.namesClient = true
            problem.failure?.command = String(command.dropLast(suffix.count))
            problem.failure?.remedy = failure.remedy.map { String($0.dropLast(suffix.count)) }
        }
        return problem
    }

    private func parts(of client: ClientView) -> [Part] {
        let all: [(String, String, String?, Remedy?)] =
            client.outputs.map { ($0.place, $0.state.rawValue, $0.error, $0.remedy) }
            + client.actions.map { ($0.action.description, $0.state.rawValue, $0.error, $0.remedy) }
        return all.compactMap { name, state, error, remedy in
            guard let error, client.reasonReport?.sentence.contains(error) != true else { return nil }
            return Part(words: "  \(name) is \(state): \(TimeWords.annotated(error, now: now))", remedy: remedy)
        }
    }

    /// A line for each part: the problem; since when, and the next attempt; the remedy.
    ///
    /// - Parameter more: other problems that have the same remedy.
    private func lines(_ subject: String, _ problem: CommonProblem, more: [CommandMessage] = []) -> [CommandMessage] {
        guard let failure = problem.failure else {
            return ["\(subject)\(problem.health.rawValue): \(TimeWords.annotated(problem.reason, now: now))"]
        }
        var times = "since \(failure.since)"
        if let next = failure.nextAttempt { times += "; next attempt \(next)" }
        let first: CommandMessage =
            "\(subject)\(problem.health.rawValue): \(TimeWords.annotated(failure.message, now: now))"
        var lines = [first] + more + ["  \(TimeWords.annotated(times, now: now))"]
        if let remedy = failure.remedy { lines.append(CommandMessage("  fix: " + remedy, command: failure.command)) }
        return lines
    }
}
