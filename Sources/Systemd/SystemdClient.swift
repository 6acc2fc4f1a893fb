import Glibc
package import Linux
import SystemPackage

/// A client of systemd over one bus connection, for the length of one delivery or check.
///
/// Blocks, up to its `patience`. Methods, signals and error names are those of org.freedesktop.systemd1(5). Whose messages
/// are believed is decided by ``BusConnection``; what they say of the end of a job is confirmed by the unit's properties.
package struct SystemdClient: ~Copyable {
    private var connection: BusConnection
    private let address: BusConnection.Address
    /// On CLOCK_MONOTONIC, in microseconds.
    private let deadline: Int64
    private let cancel: EventCounter?
    /// Results of jobs that ended since the order was sent, by the job's path: a job may end before its order is answered.
    private var ended: [String: String] = [:]
    /// How many jobs of each unit were seen to end.
    private var moves: [String: Int] = [:]

    static let manager = BusConnection.Target(
        path: "/org/freedesktop/systemd1", interface: BusConnection.systemd + ".Manager")
    private static let unitInterface = "org.freedesktop.systemd1.Unit"
    private static let serviceInterface = "org.freedesktop.systemd1.Service"

    /// The socket on which systemd serves only root, without a message bus; systemctl uses it, too.
    private static let privateSocket = "/run/systemd/private"

    /// Connects: root to systemd itself, everybody else to the system's bus.
    ///
    /// - Parameters:
    ///   - milliseconds: how long all calls on this value may take together.
    ///   - user: on whose behalf root calls; nil: for itself.
    ///   - cancel: ends every wait when it is raised.
    package init(patience milliseconds: Int64, as user: UInt32? = nil, cancel: EventCounter?) throws(UnitError) {
        if let user, user != geteuid() {
            self = try ActingUser.perform(
                as: user, otherwise: { .unreachable($0.errno) },
                { () throws(UnitError) in try SystemdClient(at: .system, patience: milliseconds, cancel: cancel) })
        } else {
            let isDirect = unsafe geteuid() == 0 && access(Self.privateSocket, F_OK) == 0
            try self.init(
                at: isDirect ? .direct(Self.privateSocket) : .system, patience: milliseconds, cancel: cancel)
        }
    }

    init(at address: BusConnection.Address, patience milliseconds: Int64, cancel: EventCounter?) throws(UnitError) {
        deadline = Clocks.monotonicMicroseconds() + milliseconds * 1_000
        self.address = address
        self.cancel = cancel
        do throws(BusError) {
            connection = try BusConnection.open(to: address, deadline: deadline, cancel: cancel)
        } catch {
            throw UnitError(error)
        }
    }

    /// A unit's state in systemd.
    package struct Condition: Hashable, Sendable {
        /// `loaded`, `not-found`, `masked`, `bad-setting`, `error`…
        package let load: String
        /// `active`, `reloading`, `activating`, `deactivating`, `inactive`, `failed`…
        package let activity: String
        /// The ID of its last start (systemd.exec(5)); empty before the first.
        package let invocation: [UInt8]

        var isUp: Bool { ["active", "reloading"].contains(activity) }
        var isDown: Bool { ["inactive", "failed", "deactivating"].contains(activity) }
    }

    package mutating func condition(of unit: String) throws(UnitError) -> Condition {
        do throws(BusError) {
            return try state(of: unit)
        } catch {
            throw UnitError(error)
        }
    }

    private mutating func state(of unit: String) throws(BusError) -> Condition {
        let properties = try target(unit, Self.propertyInterface)
        return Condition(
            load: try property("LoadState", of: properties).variantText(),
            activity: try property("ActiveState", of: properties).variantText(),
            invocation: try property("InvocationID", of: properties).variantBytes())
    }

    private static let propertyInterface = "org.freedesktop.DBus.Properties"

    private mutating func property(
        _ name: String, of unit: BusConnection.Target, in interface: String = unitInterface
    ) throws(BusError) -> BusMessage {
        try call("Get", of: unit, [.text(interface), .text(name)])
    }

    /// `enabled`, `disabled`, `static` and so on; empty where there is no such unit.
    package mutating func enablement(of unit: String) throws(UnitError) -> String {
        do throws(BusError) {
            return try property("UnitFileState", of: target(unit, Self.propertyInterface)).variantText()
        } catch {
            throw UnitError(error)
        }
    }

    /// Whether starting another unit starts this one, as when it is enabled.
    package mutating func isWanted(_ unit: String) throws(UnitError) -> Bool {
        do throws(BusError) {
            return try !property("WantedBy", of: target(unit, Self.propertyInterface)).variantTexts().isEmpty
        } catch {
            throw UnitError(error)
        }
    }

    /// What a service's settings let its processes reach in the file system, as systemd has loaded them, drop-ins
    /// included; nil when that is unknown: it has another root directory, or there is no such unit.
    package mutating func sandbox(of service: String) throws(UnitError) -> UnitSandbox? {
        guard try condition(of: service).load == "loaded" else { return nil }
        do throws(BusError) {
            let unit = try target(service, Self.propertyInterface)
            func read(_ name: String) throws(BusError) -> BusMessage {
                try property(name, of: unit, in: "org.freedesktop.systemd1.Service")
            }
            for name in ["RootDirectory", "RootImage"] {
                if try !read(name).variantText().isEmpty { return nil }
            }
            var settings = UnitSandbox.Settings()
            func paths(_ name: String) throws(BusError) -> [String] {
                var paths: [String] = []
                for text in try read(name).variantTexts() {
                    let path = text.drop { "-+".contains($0) }
                    if !text.prefix(while: { "-+".contains($0) }).contains("-") {
                        settings.required[String(path)] = name
                    }
                    paths.append(String(path))
                }
                return paths
            }
            settings.protectSystem = try read("ProtectSystem").variantText()
            settings.protectHome = try read("ProtectHome").variantText()
            settings.privateTmp = try read("PrivateTmp").variantBool()
            settings.readWritePaths = try paths("ReadWritePaths")
            settings.readOnlyPaths = try paths("ReadOnlyPaths")
            settings.inaccessiblePaths = try paths("InaccessiblePaths")
            // Not known to systemd before 248.
            for (name, place) in [("NoExecPaths", \UnitSandbox.Settings.noExecPaths), ("ExecPaths", \.execPaths)] {
                do throws(BusError) { settings[keyPath: place] = try paths(name) } catch {
                    guard case .refused = error else { throw error }
                }
            }
            settings.temporaryFileSystem = try read("TemporaryFileSystem").variantPairs().map(\.first)
            settings.bindPaths = try read("BindPaths").variantPairs(rest: "bt").map(\.second)
            settings.bindReadOnlyPaths = try read("BindReadOnlyPaths").variantPairs(rest: "bt").map(\.second)
            for (name, place) in [
                ("StateDirectory", "/var/lib/"), ("CacheDirectory", "/var/cache/"), ("LogsDirectory", "/var/log/"),
                ("RuntimeDirectory", "/run/"),
            ] {
                settings.directories += try read(name).variantTexts().map { place + $0 }
            }
            return UnitSandbox(settings)
        } catch {
            throw UnitError(error)
        }
    }

    /// The unit's own file and its drop-ins, in the order in which they apply.
    mutating func files(of unit: String) throws(UnitError) -> (own: String, dropIns: [String]) {
        do throws(BusError) {
            let properties = try target(unit, Self.propertyInterface)
            return (
                try property("FragmentPath", of: properties).variantText(),
                try property("DropInPaths", of: properties).variantTexts()
            )
        } catch {
            throw UnitError(error)
        }
    }

    /// All properties of a service that are of a type which is used here.
    mutating func values(of service: String) throws(UnitError) -> [String: UnitSettings.Value] {
        do throws(BusError) {
            return try call("GetAll", of: target(service, Self.propertyInterface), [.text(Self.serviceInterface)])
                .properties()
        } catch {
            throw UnitError(error)
        }
    }

    /// Has systemd read its units' files again (`systemctl daemon-reload`).
    package mutating func reloadUnits() throws(UnitError) {
        do throws(BusError) {
            _ = try call("Reload", of: Self.manager, [])
        } catch {
            throw UnitError(error)
        }
    }

    /// The unit's object, for which systemd loads the unit.
    private mutating func target(_ unit: String, _ interface: String) throws(BusError) -> BusConnection.Target {
        let path = try call("LoadUnit", of: Self.manager, [.text(unit)]).text("o")
        return BusConnection.Target(path: path, interface: interface)
    }

    /// Has systemd carry out an order, waits for its end, and checks that a started unit stays up.
    ///
    /// All orders but a start leave a stopped unit as it is and return false. A failed unit does not count as stopped:
    /// a restart starts it, a reload or signal throws ``UnitError/failed``.
    ///
    /// - Parameters:
    ///   - settling: after how many milliseconds a started unit is checked.
    ///   - ended: records units that did not stay up although they have not failed.
    @discardableResult
    package mutating func carryOut(
        _ order: UnitOrder, on unit: String, settling: Int64 = settling, ended: EndedStarts? = nil
    ) throws(UnitError) -> Bool {
        do throws(BusError) {
            // Before the state is read: a stop by anybody from now on is noticed.
            if order.isJob { try subscribe() }
        } catch {
            throw UnitError(error)
        }
        let condition = try condition(of: unit)
        if condition.load == "not-found" { throw .noSuchUnit }
        var asked = order
        if order.isForRunning {
            let isStopped = condition.activity == "inactive"
            if condition.activity == "failed" || isStopped && ended?.has(condition.invocation, of: unit) == true {
                guard order.isRestart else { throw .failed }
                asked = .start
            } else if isStopped {
                return false
            }
        }
        if condition.load == "masked", order.isJob { throw .masked }
        let result: JobResult?
        let now: Condition
        do throws(BusError) {
            (result, now) = try give(asked, to: unit, found: condition)
        } catch {
            throw explained(error)
        }
        if let result {
            // Stopped meanwhile, the unit reads the new secret when it starts.
            if result == .skipped, asked.isForRunning, now.isDown { return false }
            throw .job(result)
        }
        if order.isRestart || order == .start {
            try checkItStaysActive(unit, after: order, since: now, settling, ended)
        }
        return true
    }

    /// Milliseconds that a started unit must stay up: systemd calls a `Type=simple` service started once its process
    /// exists, which may end at once. Longer than most take to read their settings, and short enough to wait for.
    package static let settling: Int64 = 5_000
    /// Checks, at most, of a unit that was started again between two of them: by a user, or by `Restart=` over
    /// and over.
    private static let checkLimit = 3

    private mutating func checkItStaysActive(
        _ unit: String, after order: UnitOrder, since began: Condition, _ settling: Int64, _ ended: EndedStarts?
    ) throws(UnitError) {
        var last = began
        for _ in 0..<Self.checkLimit {
            if last.activity == "failed" { throw .ended }
            if last.activity == "inactive" {
                // A unit ordered to start may do its work and end; a user may have stopped any other.
                guard order != .start, try endedByItself(unit) else { return }
                ended?.add(last.invocation, of: unit)
                throw .ended
            }
            if let cancel {
                if cancel.wait(atMost: settling) { throw .cancelled }
            } else {
                usleep(UInt32(settling * 1_000))
            }
            let now: Condition
            do throws(BusError) {
                now = try stateAgain(of: unit)
            } catch {
                throw UnitError(error)
            }
            if now.isUp, now.invocation == last.invocation {
                ended?.remove(unit)
                return
            }
            last = now
        }
        // A unit that is still stopping after this time is being stopped by a user; one that ends by itself is faster.
        if last.activity != "deactivating" { throw .ended }
    }

    /// Whether a service that is not running ended by itself, and was not stopped. False for a oneshot, which ends when its
    /// work is done.
    private mutating func endedByItself(_ unit: String) throws(UnitError) -> Bool {
        guard unit.hasSuffix(".service") else { return false }
        // One job is the start that was ordered here; a user ordered a further one.
        do throws(BusError) {
            let properties = try target(unit, Self.propertyInterface)
            // The signals name a unit by its own name, and the configuration may use an alias of it.
            let name = try property("Id", of: properties).variantText()
            guard moves[name, default: 0] <= 1 else { return false }
            return try property("Type", of: properties, in: Self.serviceInterface).variantText() != "oneshot"
        } catch {
            throw UnitError(error)
        }
    }

    /// Sends an order and waits for the end of its job: its result, nil when it succeeded, and the unit's state by then.
    ///
    /// - Parameter found: the unit's state before.
    private mutating func give(
        _ order: UnitOrder, to unit: String, found: Condition
    ) throws(BusError) -> (result: JobResult?, now: Condition) {
        if case .signal(let number) = order {
            _ = try call(order.method, of: Self.manager, [.text(unit), .text("main"), .number(number)])
            return (nil, found)
        }
        ended = [:]
        let job = try call(order.method, of: Self.manager, [.text(unit), .text("replace")]).text("o")
        let reported = try end(of: job, on: unit)
        let now = try stateAgain(of: unit)
        return (try confirmed(reported, of: order, on: unit, found, now), now)
    }

    /// Waits until systemd has the job no more: its result as it was reported, or nil if that report was missed.
    private mutating func end(of job: String, on unit: String) throws(BusError) -> String? {
        while true {
            do throws(BusError) {
                while ended[job] == nil { try note(try connection.receive()) }
                if try !has(job, unit) { return ended[job] }
                ended[job] = nil
            } catch {
                guard case .unreachable = error else { throw error }
                try reconnect()
                if try !has(job, unit) { return ended[job] }
            }
        }
    }

    /// A unit's state after an order, asked once more over a new connection if systemd goes away meanwhile.
    private mutating func stateAgain(of unit: String) throws(BusError) -> Condition {
        do throws(BusError) {
            return try state(of: unit)
        } catch {
            guard case .unreachable = UnitError(error) else { throw error }
            try reconnect()
            return try state(of: unit)
        }
    }

    /// Whether the unit still has that job.
    private mutating func has(_ job: String, _ unit: String) throws(BusError) -> Bool {
        try property("Job", of: target(unit, Self.propertyInterface)).variantObject() == job
    }

    /// How long a job is not given up although systemd has gone, in microseconds: while it executes itself again
    /// (`systemctl daemon-reexec`), or while the bus is restarted.
    private static let absence: Int64 = 20_000_000
    /// Between two tries, in milliseconds.
    private static let pause: Int64 = 200

    private mutating func reconnect() throws(BusError) {
        let end = min(deadline, Clocks.monotonicMicroseconds() + Self.absence)
        while true {
            if let cancel {
                if cancel.wait(atMost: Self.pause) { throw .cancelled }
            } else {
                usleep(UInt32(Self.pause * 1_000))
            }
            do throws(BusError) {
                connection = try BusConnection.open(to: address, deadline: deadline, cancel: cancel)
                return try subscribe()
            } catch {
                guard case .unreachable = UnitError(error), Clocks.monotonicMicroseconds() < end else { throw error }
            }
        }
    }

    /// How a job ended, by what the unit is like after it; nil when it succeeded.
    ///
    /// - Parameters:
    ///   - reported: what systemd's signal said; nil: the signal was missed.
    ///   - found: the unit's state before the order.
    ///   - now: its state after the job.
    private mutating func confirmed(
        _ reported: String?, of order: UnitOrder, on unit: String, _ found: Condition, _ now: Condition
    ) throws(BusError) -> JobResult? {
        let isStartedAnew = now.invocation.isEmpty || now.invocation != found.invocation
        if let reported, let result = JobResult(reported) { return result }
        if reported == nil {
            if now.activity == "failed" { return .failed }
            guard isStartedAnew || now.isUp && order != .tryRestart else { return .canceled }
        }
        guard unit.hasSuffix(".service"), now.isUp, !isStartedAnew else { return nil }
        switch order {
        case .tryRestart: return .other("systemd reports success, but the unit was not restarted")
        case .reload, .reloadOrTryRestart:
            let properties = try target(unit, Self.propertyInterface)
            let result = try property("ReloadResult", of: properties, in: Self.serviceInterface).variantText()
            return result == "success" ? nil : .failed
        case .start, .signal: return nil
        }
    }

    /// Nil when systemd would let the connected user do this, else why it would not. The unit is not touched.
    package mutating func obstacle(to order: UnitOrder, on unit: String) throws(UnitError) -> UnitError? {
        let condition = try condition(of: unit)
        switch condition.load {
        case "not-found": return .noSuchUnit
        case "masked" where order.isJob: return .masked
        default: break
        }
        for part in order.parts {
            if let obstacle = obstacle(toAsking: part, on: unit) { return obstacle }
        }
        return nil
    }

    private mutating func obstacle(toAsking order: UnitOrder, on unit: String) -> UnitError? {
        do throws(BusError) {
            switch order {
            case .signal:
                // SIGCONT changes nothing for a process of ExecReload= and the like, which runs already.
                let target = try target(unit, Self.unitInterface)
                _ = try call("Kill", of: target, [.text("control"), .number(SIGCONT)])
            case .start, .tryRestart, .reload, .reloadOrTryRestart:
                // systemctl(1): this mode is only for stopping. systemd rejects it, but only after checking the rights.
                _ = try call(order.method, of: Self.manager, [.text(unit), .text("triggering")])
            }
        } catch {
            let reason = explained(error)
            switch reason {
            case .notPermitted, .polkitMissing, .unreachable, .timedOut, .cancelled: return reason
            case .noSuchUnit, .masked, .refused, .job, .failed, .ended: return nil
            }
        }
        return nil
    }

    // MARK: Calls and replies

    /// Subscribes to the end of all jobs. Before a job is ordered: it may end before the reply arrives.
    private mutating func subscribe() throws(BusError) {
        if connection.isBus {
            let rule =
                "type='signal',sender='\(BusConnection.systemd)',path='\(Self.manager.path)',"
                + "interface='\(Self.manager.interface)',member='JobRemoved'"
            _ = try call("AddMatch", of: .bus, [.text(rule)])
        }
        _ = try call("Subscribe", of: Self.manager, [])
    }

    mutating func call(
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

    private mutating func note(_ message: borrowing BusMessage) throws(BusError) {
        guard message.isSignal(Self.manager.interface, "JobRemoved") else { return }
        _ = try message.number()
        let job = try message.text("o")
        moves[try message.text(), default: 0] += 1
        ended[job] = try message.text()
    }

    /// Turns a refusal into `.polkitMissing` when polkit is missing.
    private mutating func explained(_ error: BusError) -> UnitError {
        let reason = UnitError(error)
        guard reason == .notPermitted, connection.isBus else { return reason }
        let polkit = "org.freedesktop.PolicyKit1"
        do throws(BusError) {
            if try call("NameHasOwner", of: .bus, [.text(polkit)]).bool() { return reason }
            return try call("ListActivatableNames", of: .bus, []).texts().contains(polkit) ? reason : .polkitMissing
        } catch {
            return reason
        }
    }
}
