import NIOHTTP1
import Rotation

extension Reply {
    /// The HTTP reply for the rotation's answer.
    init(_ answer: Answer, known: [ClientName]) {
        switch answer {
        case .renewed(let outcomes):
            let report = RenewalReport(outcomes: outcomes.map(RenewalReport.Outcome.init))
            let failures = report.outcomes.compactMap { outcome in
                outcome.error.map { "client \"\(outcome.client)\": \($0)" }
            }
            guard let first = failures.first else {
                self = .json(report.json)
                return
            }
            let more = failures.count == 1 ? "" : " (and \(failures.count - 1) more)"
            var problem = Problem(
                .internalServerError,
                "\(failures.count) of \(report.outcomes.count) clients could not be renewed: \(first)\(more)")
            problem.outcomes = report.outcomes
            self.init(problem)
        case .reloaded(let unserved, let orphaned):
            self = .json(ReloadReport(unserved: unserved, orphaned: orphaned).json)
        case .refused(let diagnostics):
            var problem = Problem(
                .unprocessableEntity, "the configuration is refused, and the one before it stays in force")
            problem.diagnostics = diagnostics
            self.init(problem)
        case .unknownClients(let names):
            self.init(.unknownClients(names.map(\.description), known: known))
        case .stopping:
            self.init(Problem(.serviceUnavailable, "the daemon is stopping"))
        }
    }
}

extension Problem {
    /// Names that no client has, each with the most similar name that a client has.
    static func unknownClients(_ names: [String], known: [ClientName]) -> Problem {
        // A request may name hundreds; the first ones show what is wrong.
        let shown = names.prefix(5).map { name in
            let near = nearest(to: name, among: known.map(\.description))
            return "\"\(shortened(name))\"" + (near.map { " (did you mean \"\($0)\"?)" } ?? "")
        }
        let more = names.count > shown.count ? " and \(names.count - shown.count) more" : ""
        return Problem(
            .notFound, "there is no client " + shown.joined(separator: ", ") + more)
    }

    /// Text that a client sent, cut to a length that fits a line.
    static func shortened(_ text: String) -> String {
        text.count <= 80 ? text : text.prefix(80) + "…"
    }
}
