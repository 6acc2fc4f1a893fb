import AppleClientSecret
import ArgumentParser
import Model
import StatusAPI

/// `renew`: asks the daemon to renew now, and waits for the outcome.
struct RenewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Renew now and wait for the result.",
        discussion: """
            Exits 1 if a client's renewal failed. The daemon continues to retry.

            Examples:
              clientsecretd renew web
              clientsecretd renew --due-within 21d
            """)

    @Argument(help: "The clients to renew (default: all).", completion: .configuredClients, transform: Flags.clientName)
    var clients: [ClientName] = []

    @Option(
        help: .value("duration", "Renew only secrets that are due within this time, such as 21d."),
        transform: Flags.span)
    var dueWithin: Seconds?

    @Flag(help: "Mint nothing; run failed actions and writes again.")
    var deliverOnly = false

    @Flag(help: "Do not ask Apple first, even if a client has verify: true.")
    var skipVerify = false

    @OptionGroup var daemon: SocketOption
    @OptionGroup var answer: JSONFlag

    mutating func validate() throws {
        if deliverOnly, dueWithin != nil {
            throw ValidationError("--deliver-only mints nothing, so --due-within has nothing to choose; leave one out")
        }
    }

    func run() throws {
        let client = daemon.client()
        let renewal = DaemonRequest.Renewal(
            clients: Set(clients), dueWithin: dueWithin, deliverOnly: deliverOnly, skipVerify: skipVerify)
        let outcomes: [RenewalReport.Outcome]
        do throws(StatusClientError) {
            outcomes = try client.renew(renewal).outcomes
        } catch {
            guard case .answered(let problem) = error, !problem.outcomes.isEmpty else {
                throw CommandFailure(naming: error)
            }
            outcomes = problem.outcomes
        }
        if answer.json { try CommandOutput.answer(RenewalReport(outcomes: outcomes).json) }
        var hasFailed = false
        for outcome in outcomes {
            let line = RenewalWords.line(for: outcome, deliverOnly: deliverOnly, now: .now)
            if outcome.error != nil {
                hasFailed = true
                CommandOutput.complain(lines: line)
            } else if !answer.json {
                try CommandOutput.answer(lines: [line])
            }
        }
        if hasFailed { throw CommandFailure(.failed, "") }
    }
}

/// The outcome of a renewal, in words.
enum RenewalWords {
    /// The line for one client; the caller prints a failure on standard error, every other outcome on standard output.
    static func line(for outcome: RenewalReport.Outcome, deliverOnly: Bool, now: WallTime) -> String {
        switch outcome.result {
        case .renewed, .delivered:
            let expiry = outcome.expiresAt.map { ", \(TimeWords.expiry($0, to: now))" } ?? ""
            let name = outcome.fingerprint.map { " (\($0))" } ?? ""
            return "\(outcome.client): \(outcome.result.rawValue)\(name)\(expiry)"
        case .untouched:
            return "\(outcome.client): "
                + (deliverOnly ? "nothing was left to repeat" : "not due yet, nothing was done")
        case .failed:
            return "\(outcome.client): \(outcome.error ?? outcome.result.rawValue)"
        }
    }
}
