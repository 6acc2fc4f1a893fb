import AppleClientSecret
import Failures
import Glibc
import Linux
import Model
import StatusAPI

/// `status --watch`: asks for the status each second until it is ended. A terminal is redrawn in place; a pipe or a
/// file gets the status when it has changed.
struct StatusWatch {
    let client: StatusClient
    let isJSON: Bool
    private var screen = Screen()
    private var last: (snapshot: Snapshot, at: WallTime)?
    private var problem: (complaint: CommandMessage, since: WallTime)?
    /// The clients whose secret was the last to change while this command watched.
    private var renewed: (clients: [String], at: WallTime)?
    private let look: () -> [[CommandMessage]]
    private var findings: [[CommandMessage]] = []
    /// When the machine is looked at again, in milliseconds of the boot clock.
    private var nextLook: Int64 = 0

    /// In milliseconds: systemd is asked, and each process's mounts are read.
    private static let lookPause: Int64 = 10_000

    init(client: StatusClient, isJSON: Bool, findings: @escaping () -> [[CommandMessage]]) {
        self.client = client
        self.isJSON = isJSON
        look = findings
    }

    mutating func run() throws(CommandFailure) -> Never {
        try refresh()
        guard Terminal.current().redraws, !isJSON else { try printChanges() }
        FullScreen.take()
        do throws(CommandFailure) {
            while true {
                // Read each time: the window may have been resized.
                let terminal = Terminal.current()
                let frame = screen.frame(picture(on: terminal), on: terminal)
                try CommandOutput.answer(bytes: Array(frame.utf8))
                // SIGWINCH, when the window is resized, cuts it short.
                sleep(1)
                try refresh()
            }
        } catch {
            FullScreen.giveBack()
            throw error
        }
    }

    /// Prints the status each time it has changed.
    private mutating func printChanges() throws(CommandFailure) -> Never {
        var shown: Snapshot?
        var shownFindings: [[CommandMessage]] = []
        var complained = false
        while true {
            let isNews = findings != shownFindings
            shownFindings = findings
            if isNews, isJSON || problem != nil {
                for line in findings.joined() { CommandOutput.complain(lines: line.text) }
            }
            if let problem {
                if !complained { CommandOutput.complain("\(problem.complaint.text); waiting") }
            } else if let last, last.snapshot != shown || complained || isNews && !isJSON {
                let terminal = Terminal.current()
                let text = isJSON ? [last.snapshot.json] : picture(on: terminal).map(terminal.line) + [""]
                try CommandOutput.answer(text.joined(separator: "\n"))
                shown = last.snapshot
            }
            complained = problem != nil
            sleep(1)
            try refresh()
        }
    }

    /// Waits for an unreachable daemon, as during a restart; throws when this user could never open the socket.
    private mutating func refresh() throws(CommandFailure) {
        do throws(StatusClientError) {
            let snapshot = try client.status()
            noticeRenewals(in: snapshot)
            last = (snapshot, .now)
            problem = nil
        } catch {
            if case .notPermitted = error, last == nil { throw CommandFailure(error) }
            problem = (CommandMessage(error.description, command: error.remedy?.command), problem?.since ?? .now)
        }
        let now = Clocks.bootMilliseconds()
        guard now >= nextLook else { return }
        findings = look()
        nextLook = now + Self.lookPause
    }

    private mutating func noticeRenewals(in snapshot: Snapshot) {
        guard let last else { return }
        let before = Dictionary(uniqueKeysWithValues: last.snapshot.clients.map { ($0.name, $0.current?.fingerprint) })
        let clients = snapshot.clients.filter { client in
            guard let fingerprint = client.current?.fingerprint, let earlier = before[client.name] else { return false }
            return earlier != fingerprint
        }
        if !clients.isEmpty { renewed = (clients.map(\.name.description), .now) }
    }

    private func picture(on terminal: Terminal) -> [[Piece]] {
        let now = WallTime.now
        var lines: [[Piece]] = []
        if let problem {
            let since = TimeWords.since(problem.since, to: now)
            let line = problem.complaint.rewritten { "Not reachable \(since): \($0)" }
            lines += Paragraph.lines(line, on: terminal).map { [Piece($0, .red)] }
            guard let last else { return lines }
            lines += [[], [Piece("The daemon's last status, \(TimeWords.past(last.at, to: now)):")], []]
        }
        guard let last else { return lines }
        if let renewed {
            let text = "Renewed \(TimeWords.past(renewed.at, to: now)): \(renewed.clients.joined(separator: ", "))"
            lines += Paragraph.lines(text, columns: terminal.columns).prefix(2).map { [Piece($0, .green)] }
        }
        return lines + StatusReport(snapshot: last.snapshot, now: now, findings: findings).lines(for: terminal)
    }
}
