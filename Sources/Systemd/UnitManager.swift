import Glibc
package import Linux
import SystemPackage

/// systemd, asked over the bus on one connection: for the length of a delivery or of a check.
///
/// Blocks, up to its patience. Methods, signals and error names are those of org.freedesktop.systemd1(5).
package struct UnitManager: ~Copyable {
    private let connection: BusConnection
    /// Results of jobs that ended before anybody waited for them, by the job's path.
    private var ended: [String: String]

    private static let manager = BusConnection.Target(
        destination: "org.freedesktop.systemd1", path: "/org/freedesktop/systemd1",
        interface: "org.freedesktop.systemd1.Manager")
    private static let unitInterface = "org.freedesktop.systemd1.Unit"

    /// Where systemd listens for root alone, so that root needs no message bus; as systemctl does.
    private static let privateSocket = "/run/systemd/private"

    /// Connects: root to systemd itself, everybody else to the system's bus.
    ///
    /// - Parameters:
    ///   - milliseconds: how long all that is asked of this value may take together.
    ///   - user: on whose behalf root asks; nil: for itself.
    ///   - cancel: ends every wait when it is raised.
    package init(patience milliseconds: Int64, as user: UInt32? = nil, cancel: EventCounter?) throws(UnitError) {
        if let user, user != geteuid() {
            self = try ActingUser.perform(
                as: user, otherwise: { .unreachable($0.errno) },
                { () throws(UnitError) in try UnitManager(at: .system, patience: milliseconds, cancel: cancel) })
        } else {
            let isDirect = unsafe geteuid() == 0 && access(Self.privateSocket, F_OK) == 0
            try self.init(
                at: isDirect ? .direct(Self.privateSocket) : .system, patience: milliseconds, cancel: cancel)
        }
    }

    init(at address: BusConnection.Address, patience milliseconds: Int64, cancel: EventCounter?) throws(UnitError) {
        let made: BusConnection
        do throws(BusError) {
            made = try BusConnection(to: address, milliseconds: milliseconds, cancel: cancel)
        } catch {
            throw UnitError(error)
        }
        connection = made
        ended = [:]
    }

    /// What systemd knows of a unit.
    package struct Condition: Hashable, Sendable {
        /// `loaded`, `not-found`, `masked`, `bad-setting`, `error`…
        package let load: String
        /// `active`, `reloading`, `activating`, `deactivating`, `inactive`, `failed`…
        package let activity: String

        package var isStopped: Bool { ["inactive", "failed"].contains(activity) }
    }

    package mutating func condition(of unit: String) throws(UnitError) -> Condition {
        do throws(BusError) {
            let properties = try target(unit, "org.freedesktop.DBus.Properties")
            func read(_ name: String) throws(BusError) -> String {
                try call("Get", of: properties, [.text(Self.unitInterface), .text(name)]).variantText()
            }
            return Condition(load: try read("LoadState"), activity: try read("ActiveState"))
        } catch {
            throw UnitError(error)
        }
    }

    /// The unit as an object, which systemd loads for it.
    private mutating func target(_ unit: String, _ interface: String) throws(BusError) -> BusConnection.Target {
        let path = try call("LoadUnit", of: Self.manager, [.text(unit)]).text("o")
        return BusConnection.Target(destination: Self.manager.destination, path: path, interface: interface)
    }

    /// Has systemd carry an order out and waits until it is. A unit that is stopped stays stopped, and nothing is asked
    /// for it: false then.
    @discardableResult
    package mutating func carryOut(_ order: UnitOrder, on unit: String) throws(UnitError) -> Bool {
        let condition = try condition(of: unit)
        if condition.load == "not-found" { throw .noSuchUnit }
        if order.isForRunning, condition.isStopped { return false }
        if condition.load == "masked", order.isJob { throw .masked }
        let result: JobResult?
        do throws(BusError) {
            result = try give(order, to: unit)
        } catch {
            throw explained(error)
        }
        guard let result else { return true }
        // It was stopped meanwhile, and reads the new secret when it starts.
        if result == .skipped, order.isForRunning { return false }
        throw .job(result)
    }

    /// Gives an order and waits for the end of its job; nil when all went well.
    private mutating func give(_ order: UnitOrder, to unit: String) throws(BusError) -> JobResult? {
        if case .signal(let number) = order {
            _ = try call(order.method, of: Self.manager, [.text(unit), .text("main"), .number(number)])
            return nil
        }
        try subscribe()
        let job = try call(order.method, of: Self.manager, [.text(unit), .text("replace")]).text("o")
        return JobResult(try end(of: job))
    }

    /// Nil when systemd would let the user who connected do this, else why it would not. Nothing is done to the unit.
    package mutating func obstacle(to order: UnitOrder, on unit: String) throws(UnitError) -> UnitError? {
        let condition = try condition(of: unit)
        switch condition.load {
        case "not-found": return .noSuchUnit
        case "masked" where order.isJob: return .masked
        default: break
        }
        do throws(BusError) {
            switch order {
            case .signal:
                // A process of ExecReload= and the like, for the moment that it runs, is told to go on, which it does.
                let target = try target(unit, Self.unitInterface)
                _ = try call("Kill", of: target, [.text("control"), .number(SIGCONT)])
            case .start, .tryRestart, .reload, .reloadOrTryRestart:
                // systemctl(1): this mode is for stopping alone. systemd says so, but to those only who may give orders.
                _ = try call(order.method, of: Self.manager, [.text(unit), .text("triggering")])
            }
        } catch {
            let reason = explained(error)
            switch reason {
            case .notPermitted, .polkitMissing, .unreachable, .timedOut, .cancelled: return reason
            case .noSuchUnit, .masked, .refused, .job: return nil
            }
        }
        return nil
    }

    // MARK: Questions and answers

    /// Has everybody's ended jobs told, before one is ordered: it may end before its order is answered.
    private mutating func subscribe() throws(BusError) {
        if connection.isBus {
            let rule =
                "type='signal',sender='org.freedesktop.systemd1',path='\(Self.manager.path)',"
                + "interface='\(Self.manager.interface)',member='JobRemoved'"
            _ = try call("AddMatch", of: .bus, [.text(rule)])
        }
        _ = try call("Subscribe", of: Self.manager, [])
    }

    private mutating func call(
        _ member: String, of target: BusConnection.Target, _ arguments: [BusMessage.Argument]
    ) throws(BusError) -> BusMessage {
        let question = try connection.send(member, of: target, arguments)
        while true {
            let message = try connection.receive()
            if message.answers == question {
                if let error = message.error { throw error }
                return message
            }
            try note(message)
        }
    }

    /// How the job ended.
    private mutating func end(of job: String) throws(BusError) -> String {
        while true {
            if let result = ended[job] { return result }
            try note(try connection.receive())
        }
    }

    private mutating func note(_ message: borrowing BusMessage) throws(BusError) {
        guard message.isSignal(Self.manager.interface, "JobRemoved") else { return }
        _ = try message.number()
        let job = try message.text("o")
        _ = try message.text()
        ended[job] = try message.text()
    }

    /// Without polkit a refusal means something else than with it.
    private mutating func explained(_ error: BusError) -> UnitError {
        let reason = UnitError(error)
        guard reason == .notPermitted, connection.isBus else { return reason }
        let polkit = "org.freedesktop.PolicyKit1"
        do throws(BusError) {
            if try call("NameHasOwner", of: .bus, [.text(polkit)]).truth() { return reason }
            return try call("ListActivatableNames", of: .bus, []).texts().contains(polkit) ? reason : .polkitMissing
        } catch {
            return reason
        }
    }
}
