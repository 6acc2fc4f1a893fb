import ArgumentParser
import Rotation
import StatusAPI

/// `status`: shows the daemon's status document.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show every client, its secret and what is wrong.")

    @OptionGroup var daemon: SocketOption
    @OptionGroup var answer: JSONFlag

    @Flag(help: "Stay, and show how it changes.")
    var watch = false

    func run() throws {
        let client = StatusClient(socket: daemon.path(Environment.current))
        if watch {
            var view = StatusWatch(client: client, isJSON: answer.json)
            try view.run()
        }
        let snapshot: Snapshot
        do throws(ClientError) {
            snapshot = try client.status()
        } catch {
            throw CommandFailure(error)
        }
        guard !answer.json else { return try Streams.answer(snapshot.json) }
        let terminal = Terminal.current(Environment.current)
        let lines = StatusReport(snapshot: snapshot, now: .now).lines(for: terminal)
        try Streams.answer(lines.map(terminal.line).joined(separator: "\n"))
    }
}
