import Glibc
package import Linux
import SystemPackage

/// A client of systemd over one bus connection, which lasts for one delivery or check.
///
/// Blocks, up to its `timeout`, and longer only until the ordered job ends. Methods, signals and error names are those of
/// org.freedesktop.systemd1(5). ``BusConnection`` decides whose messages are believed. Their report of a job's end is confirmed
/// by the unit's properties.
package struct SystemdClient: ~Copyable {
    var connection: BusConnection
    let address: BusConnection.Address
    /// In milliseconds.
    private let timeout: Int64
    /// The same for the end of the ordered job.
    let jobTimeout: Int64
    /// The same for one answer, before the question is asked again over a new connection.
    let answerTimeout: Int64
    let cancel: EventCounter?
    /// Whether systemd lets root give orders without asking polkit.
    let isRoot: Bool
    /// Why polkit was not waited for any longer: no order on this value is given after that.
    var silence: UnitError?
    /// Results of jobs that ended since the order was sent, by the job's path: a job may end before its order is answered.
    var ended: [String: String] = [:]
    /// How many jobs of each unit were seen to end.
    var moves: [String: Int] = [:]
    /// The unit whose properties are listened to: systemd forgets those of a unit that has ended, once nothing needs it.
    private var watched: String?
    /// Whether the conditions of that unit were met when it was to start last; nil if that was not seen.
    var areConditionsMet: Bool?

    static let manager = BusConnection.Target(
        path: "/org/freedesktop/systemd1", interface: BusConnection.systemd + ".Manager")
    static let unitInterface = "org.freedesktop.systemd1.Unit"
    static let serviceInterface = "org.freedesktop.systemd1.Service"

    /// The socket on which systemd serves only root, without a message bus; systemctl uses it, too.
    private static let privateSocket = "/run/systemd/private"

    /// Connects: root to systemd itself, all others to the system's bus.
    ///
    /// - Parameters:
    ///   - milliseconds: how long all calls on this value may take together; those of each ``problem(with:on:)``.
    ///   - jobTimeout: milliseconds that the ordered job may take; nil: no longer than the calls.
    ///   - answerTimeout: after how many milliseconds a question is asked again over a new connection; nil: never.
    ///   - user: on whose behalf root calls; nil: for itself.
    ///   - cancel: ends every wait when it is raised.
    package init(
        timeout milliseconds: Int64 = UnitTimeouts.answer, ofJobs jobTimeout: Int64? = nil,
        ofAnswers answerTimeout: Int64? = nil, as user: UInt32? = nil, cancel: EventCounter?
    ) throws(UnitError) {
        if let user, user != geteuid() {
            self = try ThreadUser.perform(
                as: user, otherwise: { .unreachable($0.errno) },
                { () throws(UnitError) in
                    try SystemdClient(
                        at: .system, timeout: milliseconds, ofJobs: jobTimeout, ofAnswers: answerTimeout, cancel: cancel
                    )
                })
        } else {
            let isDirect = unsafe geteuid() == 0 && access(Self.privateSocket, F_OK) == 0
            try self.init(
                at: isDirect ? .direct(Self.privateSocket) : .system, timeout: milliseconds, ofJobs: jobTimeout,
                ofAnswers: answerTimeout, isRoot: geteuid() == 0, cancel: cancel)
        }
    }

    init(
        at address: BusConnection.Address, timeout milliseconds: Int64, ofJobs jobTimeout: Int64? = nil,
        ofAnswers answerTimeout: Int64? = nil, isRoot: Bool = false, cancel: EventCounter?
    ) throws(UnitError) {
        timeout = milliseconds
        self.jobTimeout = jobTimeout ?? milliseconds
        self.answerTimeout = answerTimeout ?? .max
        self.address = address
        self.cancel = cancel
        self.isRoot = isRoot
        connection = try BusConnection.open(to: address, deadline: Deadline(in: milliseconds), cancel: cancel)
    }

    /// Waits for so many milliseconds from now on; nil: for as long as all calls may take.
    mutating func wait(atMost milliseconds: Int64? = nil) {
        connection.deadline = Deadline(in: milliseconds ?? timeout)
    }

    static let propertyInterface = "org.freedesktop.DBus.Properties"

    mutating func property(
        _ name: String, of unit: BusConnection.Target, in interface: String = unitInterface
    ) throws(UnitError) -> UnitSettings.Value? {
        try call("Get", of: unit, [.text(interface), .text(name)]).property()
    }

    /// The unit's object, for which systemd loads the unit.
    mutating func target(
        _ unit: String, _ interface: String = propertyInterface
    ) throws(UnitError) -> BusConnection.Target {
        let path = try call("LoadUnit", of: Self.manager, [.text(unit)]).text("o")
        return BusConnection.Target(path: path, interface: interface)
    }

    /// Whether an order does nothing, now and later: the unit is stopped and masked, so that nothing can start it.
    package mutating func isWithoutEffect(_ order: UnitOrder, on unit: String) throws(UnitError) -> Bool {
        let state = try state(of: unit)
        return order.isForRunning && state.load == "masked" && state.activity == "inactive"
    }

    /// Nil when systemd would let the connected user do this, else why it would not. The unit is not touched.
    package mutating func problem(with order: UnitOrder, on unit: String) throws(UnitError) -> UnitError? {
        // The whole time for each order: a thousand take longer than one that gets no answer.
        wait()
        let state = try state(of: unit)
        switch state.load {
        case "not-found": return .noSuchUnit
        // A unit that was stopped stays so, also one that its administrator has masked meanwhile.
        case "masked" where order.isForRunning && state.activity == "inactive": return nil
        case "masked" where order.isJob: return .masked
        case let load where order.isJob && UnitState.isBroken(load): return .broken(load)
        default: break
        }
        if let property = try objection(of: unit, to: order) { return .impossible(property) }
        for part in order.parts {
            if let problem = problem(asking: part, on: unit) { return problem }
        }
        return nil
    }

    /// The property by which a unit takes no such order (systemd.unit(5)); nil if it does.
    mutating func objection(of unit: String, to order: UnitOrder) throws(UnitError) -> String? {
        let properties = try target(unit)
        if order == .reload || order == .reloadOrTryRestart {
            let canReload = try property("CanReload", of: properties).isTrue
            if canReload || order == .reload { return canReload ? nil : "CanReload=no" }
        }
        guard order.isJob else { return nil }
        for name in order == .start ? ["RefuseManualStart"] : ["RefuseManualStart", "RefuseManualStop"]
        where try property(name, of: properties).isTrue {
            return "\(name)=yes"
        }
        return nil
    }

    private mutating func problem(asking order: UnitOrder, on unit: String) -> UnitError? {
        do throws(UnitError) {
            switch order {
            case .signal:
                // SIGCONT changes nothing for a process of ExecReload= and the like, which runs already.
                let target = try target(unit, Self.unitInterface)
                _ = try give("Kill", of: target, [.text("control"), .number(SIGCONT)], unit)
            case .start, .tryRestart, .reload, .reloadOrTryRestart:
                // systemctl(1): this mode is only for stopping. systemd rejects it, but only after checking the rights.
                _ = try give(order.method, of: Self.manager, [.text(unit), .text("triggering")], unit)
            }
        } catch {
            switch error {
            case .notPermitted, .polkitMissing, .polkitFailed, .unreachable, .timedOut, .cancelled: return error
            case .noSuchUnit, .masked, .broken, .impossible, .needed, .refused, .job, .failed, .ended: return nil
            }
        }
        return nil
    }

    // MARK: Calls and replies

    /// Subscribes to the end of all jobs. Before a job is ordered: it may end before the reply arrives. Asks once: a new connection
    /// would have to subscribe again.
    mutating func subscribe() throws(UnitError) {
        if connection.isBus {
            let rule =
                "type='signal',sender='\(BusConnection.systemd)',path='\(Self.manager.path)',"
                + "interface='\(Self.manager.interface)',member='JobRemoved'"
            _ = try checked(reply("AddMatch", of: .bus, [.text(rule)]))
        }
        _ = try checked(reply("Subscribe", of: Self.manager, []))
        if let watched { try subscribe(toPropertiesOf: watched) }
    }

    /// Listens to what becomes of a unit from now on.
    mutating func watch(_ unit: String) throws(UnitError) {
        let path = try target(unit).path
        watched = path
        areConditionsMet = nil
        try persistently { systemd throws(UnitError) in try systemd.subscribe(toPropertiesOf: path) }
    }

    private mutating func subscribe(toPropertiesOf path: String) throws(UnitError) {
        guard connection.isBus else { return }
        let rule =
            "type='signal',sender='\(BusConnection.systemd)',path='\(path)',"
            + "interface='\(Self.propertyInterface)',member='PropertiesChanged'"
        _ = try checked(reply("AddMatch", of: .bus, [.text(rule)]))
    }

    /// The answer to a question.
    mutating func call(
        _ member: String, of target: BusConnection.Target, _ arguments: [BusMessage.Argument]
    ) throws(UnitError) -> BusMessage {
        try persistently { systemd throws(UnitError) in
            try systemd.checked(systemd.reply(member, of: target, arguments))
        }
    }

    /// Asks something that may be asked again: over a new connection if systemd or the bus goes away meanwhile, or does not
    /// answer.
    mutating func persistently<Value: ~Copyable>(
        _ ask: (inout SystemdClient) throws(UnitError) -> Value
    ) throws(UnitError) -> Value {
        let deadline = connection.deadline
        var end: Deadline?
        while true {
            do throws(UnitError) {
                connection.deadline = min(deadline, Deadline(in: answerTimeout))
                let value = try ask(&self)
                connection.deadline = deadline
                return value
            } catch {
                connection.deadline = deadline
                var last = deadline
                if error != .timedOut {
                    last = end ?? min(deadline, Deadline(in: UnitTimeouts.absence))
                    end = last
                }
                guard Self.isLoss(error), !last.hasPassed else { throw error }
                try reconnect()
            }
        }
    }

    /// An answer that is no error.
    func checked(_ message: consuming BusMessage) throws(UnitError) -> BusMessage {
        if let error = message.error { throw UnitError(error) }
        return message
    }

    /// The answer to a call, which may be an error.
    mutating func reply(
        _ member: String, of target: BusConnection.Target, _ arguments: [BusMessage.Argument]
    ) throws(UnitError) -> BusMessage {
        let cookie = try connection.send(member, of: target, arguments)
        while true {
            let message = try connection.receive()
            if message.answers == cookie { return message }
            try note(message)
        }
    }

    mutating func note(_ message: borrowing BusMessage) throws(UnitError) {
        if message.isSignal(Self.propertyInterface, "PropertiesChanged"), message.path == watched {
            guard try message.text() == Self.unitInterface else { return }
            let properties = try message.properties()
            if case .number(let tested)? = properties["ConditionTimestampMonotonic"], tested > 0,
                case .flag(let areMet)? = properties["ConditionResult"]
            {
                areConditionsMet = areMet
            }
            return
        }
        guard message.isSignal(Self.manager.interface, "JobRemoved") else { return }
        _ = try message.number()
        let job = try message.text("o")
        moves[try message.text(), default: 0] += 1
        ended[job] = try message.text()
    }
}
