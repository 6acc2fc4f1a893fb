import AppleClientSecret
import ArgumentParser
import Failures
import Model
import StatusAPI

/// `rollout`: how far a new secret is rolled out, and having that hold, go on or end.
struct RolloutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollout",
        abstract: "Show, hold, resume or finish the rollout of a secret.",
        discussion: """
            Run it on a signer. The client needs 'rollout:'.

            Examples:
              clientsecretd rollout show web
              clientsecretd rollout resume web
            """)

    /// The action to take: a ``RolloutOrder``, or nothing.
    enum Deed: String, ExpressibleByArgument, CaseIterable {
        case show, hold, resume, finish
    }

    @Argument(
        help: """
            show; hold: admit no more machines; resume: continue despite the current failures; finish: admit all machines.
            """)
    var action: Deed

    @Argument(help: "The client.", completion: .configuredClients, transform: Flags.clientName)
    var client: ClientName

    @OptionGroup var daemon: SocketOption
    @OptionGroup var answer: JSONFlag

    func run() throws {
        let daemon = self.daemon.client()
        var view: RolloutView?
        var fleet: FleetView?
        do throws(StatusClientError) {
            if let order = RolloutOrder(rawValue: action.rawValue) {
                view = try daemon.rollout(client, order)
            } else {
                fleet = try daemon.fleet(all: false)
            }
        } catch {
            throw CommandFailure(naming: error)
        }
        if let fleet {
            guard let known = fleet.clients.first(where: { $0.name == client }) else {
                let names = fleet.clients.map(\.name.description).joined(separator: ", ")
                throw CommandFailure(
                    .usage, "no client \"\(client)\" puts its secret into the store here; there are: \(names)")
            }
            view = known.rollout
        }
        try answer.show(
            view?.json ?? "null",
            or: RolloutWords.lines(for: client, view, in: fleet?.clients.first { $0.name == client }, now: .now))
    }
}

/// How far a rollout is, in words.
enum RolloutWords {
    /// The output of the command: how far the rollout of the client's secret is, and the remedy if it is held.
    ///
    /// - Parameter fleet: the machines' reports about the client, if that was asked for.
    static func lines(
        for client: ClientName, _ view: RolloutView?, in fleet: FleetClientView?, now: WallTime
    ) -> [String] {
        var lines = ["\(client): " + line(for: view, in: fleet, now: now)]
        if let missing = view?.missing, missing > 0 {
            lines.append(
                "\(missing == 1 ? "1 machine reports" : "\(missing) machines report") the client no more; places are kept "
                    + "for them until they do, or for \(DurationText.text(MachineReport.silence))")
        }
        guard let fleet, view?.state == .held else { return lines }
        let next =
            ShellCommand.resumeRollout(client.description).map { "\($0.text), or finish instead of resume" }
            ?? "resume or finish the rollout"
        return lines + failures(in: fleet) + ["next: \(next)"]
    }

    /// A line for each machine that fails with the new secret.
    private static func failures(in client: FleetClientView) -> [String] {
        client.machines.compactMap { machine in
            guard machine.holding.secret?.fingerprint == client.fingerprint, machine.holding.failsToDeliver else {
                return nil
            }
            return machine.holding.failure.map { "\(machine.machine) fails: \(Printable.foreign($0))" }
        }
    }

    /// - Parameter fleet: the machines' reports about the client; nil if that was not asked for.
    static func line(for view: RolloutView?, in fleet: FleetClientView? = nil, now: WallTime) -> String {
        guard let view else { return "not rolled out: each machine delivers by itself" }
        let since = TimeWords.since(view.since, to: now)
        return switch view.state {
        case .waiting: "waits for the store: no machine is known to be admitted"
        case .finished: "all machines may deliver, \(since)"
        case .going where view.percent == 100 && fleet?.haveAllDelivered == true:
            "all known machines have delivered; \(view.end < now ? "finished" : "finishes") "
                + "\(TimeWords.full(view.end, to: now)), unless another one reports"
        case .going: "\(view.percent) % of the machines may deliver"
        case .held: "held at \(view.percent) % of the machines, \(since)"
        }
    }
}
