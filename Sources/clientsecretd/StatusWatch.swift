import AppleClientSecret
import Glibc
import Monitoring

/// `status --watch`: one look a second for as long as it is left running. On a terminal the picture is redrawn in place;
/// into a pipe or a file goes what has changed.
struct StatusWatch {
    let client: StatusClient
    let isJSON: Bool
    private var screen = Screen()
    private var last: (document: StatusDocument, at: WallTime)?
    private var complaint: String?

    init(client: StatusClient, isJSON: Bool) {
        self.client = client
        self.isJSON = isJSON
    }

    mutating func run() throws(Failure) -> Never {
        while true {
            let before = last?.document
            let complaintBefore = complaint
            look()
            // Asked anew each time: the window may have another size now.
            let terminal = Terminal.current(Environment.current)
            if let rows = terminal.rows, !isJSON {
                let frame = screen.frame(picture(on: terminal).map(terminal.line), rows: rows)
                try Streams.answer(bytes: Array(frame.utf8))
            } else if let complaint {
                if complaint != complaintBefore { Streams.complain("\(complaint); waiting") }
            } else if let last, last.document != before || complaintBefore != nil {
                let text = isJSON ? [last.document.json] : picture(on: terminal).map(terminal.line) + [""]
                try Streams.answer(text.joined(separator: "\n"))
            }
            sleep(1)
        }
    }

    /// A daemon that is away is waited for: it is restarted now and then.
    private mutating func look() {
        do {
            last = (try client.status(), .now)
            complaint = nil
        } catch {
            complaint = error.description
        }
    }

    private func picture(on terminal: Terminal) -> [[Piece]] {
        var lines: [[Piece]] = []
        if let complaint {
            lines += Paragraph.lines("Waiting for the daemon: \(complaint)", columns: terminal.columns)
                .map { [Piece($0, .red)] }
            guard let last else { return lines }
            lines += [[Piece("What it said \(TimeWords.relative(last.at, to: .now)):")], []]
        }
        guard let last else { return lines }
        return lines + StatusReport(document: last.document, now: .now).lines(for: terminal)
    }
}
