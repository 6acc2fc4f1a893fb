import Linux

/// How a unit is after an order: whether it stays up, has done its work, or is down although no user stopped it.
extension SystemdClient {
    private static let unmet = JobResult.other("a condition in its unit file is not met, so it was not started")
    private static let runsStill = JobResult.other(
        "it still runs, so it is not known whether it worked; write Type=oneshot into its [Service] section")

    /// Checks, at most, of a unit that was started again between two of them: by a user, or by `Restart=` over
    /// and over.
    private static let checkLimit = 3

    mutating func checkItStaysActive(
        _ unit: String, after order: UnitOrder, since began: UnitState, _ settling: Int64, _ ended: EndedStarts?
    ) throws(UnitError) {
        var last = began
        for _ in 0..<Self.checkLimit {
            if last.activity == "failed" {
                // Nothing starts it again here.
                if !order.isRestart { ended?.add(last.invocation, of: unit) }
                throw .ended
            }
            if last.activity == "inactive" {
                var isRefused = order.isRestart && areConditionsMet == false
                if order.isRestart, !isRefused { isRefused = try refusedStart(of: unit) }
                if isRefused {
                    ended?.add(last.invocation, of: unit)
                    throw .job(Self.unmet)
                }
                // A user may have stopped it.
                guard try endedByItself(unit, after: order) else { return }
                ended?.add(last.invocation, of: unit)
                throw .ended
            }
            // Its next start, by `Restart=`, reads the new secret.
            if last.activity == "activating", !order.isRestart { return }
            if rests(settling) { throw .cancelled }
            let now = try state(of: unit)
            if now.isUp, now.invocation == last.invocation {
                ended?.remove(unit)
                return
            }
            last = now
        }
        // A unit that is still stopping after this time is being stopped by a user; one that ends by itself is faster.
        if last.activity != "deactivating" { throw .ended }
    }

    /// Waits for the end of the ordered work. systemd calls the job of a unit done if a condition keeps it from running, although
    /// its work is not done.
    mutating func checkItsWorkIsDone(
        _ unit: String, since began: UnitState, _ settling: Int64
    ) throws(UnitError) {
        let end = Deadline(in: jobTimeout)
        var last = began
        while last.activity != "inactive" {
            if last.activity == "failed" { throw .ended }
            if try hasExited(unit) { return }
            guard !end.hasPassed else { throw .job(Self.runsStill) }
            if rests(max(settling, UnitTimeouts.pause)) { throw .cancelled }
            wait()
            last = try state(of: unit)
        }
        let isSkipped = if let areConditionsMet { !areConditionsMet } else { try areConditionsUnmet(of: unit) }
        if isSkipped { throw .job(Self.unmet) }
        if try lastRunFailed(unit) { throw .ended }
    }

    /// Whether conditions kept a unit from its last start that systemd has not forgotten.
    private mutating func areConditionsUnmet(of unit: String) throws(UnitError) -> Bool {
        let properties = try target(unit)
        if try property("ConditionTimestampMonotonic", of: properties).number > 0,
            try !property("ConditionResult", of: properties).isTrue
        {
            return true
        }
        guard unit.hasSuffix(".service") else { return false }
        return try property("Result", of: properties, in: Self.serviceInterface).text == "exec-condition"
    }

    /// Whether a service failed that is called inactive, because `CollectMode=` has systemd forget that.
    private mutating func lastRunFailed(_ unit: String) throws(UnitError) -> Bool {
        guard unit.hasSuffix(".service") else { return false }
        return try property("Result", of: target(unit), in: Self.serviceInterface).text != "success"
    }

    /// Whether a service has done its work and remains active, or a unit is of a kind that runs no program.
    private mutating func hasExited(_ unit: String) throws(UnitError) -> Bool {
        guard unit.hasSuffix(".service") else { return true }
        return try property("SubState", of: target(unit)).text == "exited"
    }

    /// Whether a service that is not running ended by itself, and was not stopped. False for a oneshot, which ends when its
    /// work is done.
    private mutating func endedByItself(_ unit: String, after order: UnitOrder) throws(UnitError) -> Bool {
        guard unit.hasSuffix(".service") else { return false }
        // One job is the one that was ordered here; a user ordered a further one.
        guard moves[unit, default: 0] <= (order.isJob ? 1 : 0) else { return false }
        return try !isOneshot(target(unit))
    }

    /// Whether a unit is not running although no user stopped it. It ended by itself after an order, or it was stopped to be
    /// started again and something keeps it from starting.
    mutating func wasToRun(
        _ unit: String, _ found: UnitState, _ order: UnitOrder, _ ended: EndedStarts?
    ) throws(UnitError) -> Bool {
        if ended?.has(found.invocation, of: unit) == true { return true }
        // Only a restart stops a unit to start it again.
        return order.isRestart ? try refusedStart(of: unit) : false
    }

    /// Whether a unit that has run was stopped, and a condition or assertion of it, or its `ExecCondition=`, kept it from its
    /// next start. A oneshot was not stopped: its work was done.
    private mutating func refusedStart(of unit: String) throws(UnitError) -> Bool {
        let properties = try target(unit)
        let ran = try property("ActiveEnterTimestampMonotonic", of: properties).number
        guard ran > 0 else { return false }
        let isService = unit.hasSuffix(".service")
        if isService, try isOneshot(properties) { return false }
        let stopped = try property("InactiveEnterTimestampMonotonic", of: properties).number
        for check in ["Condition", "Assert"] {
            let isMet = try property(check + "Result", of: properties).isTrue
            let tried = try property(check + "TimestampMonotonic", of: properties).number
            if !isMet, stopped > 0, tried >= stopped { return true }
        }
        guard isService else { return false }
        return try property("Result", of: properties, in: Self.serviceInterface).text == "exec-condition"
    }

    private mutating func isOneshot(_ service: BusConnection.Target) throws(UnitError) -> Bool {
        try property("Type", of: service, in: Self.serviceInterface).text == "oneshot"
    }
}
