import Glibc
import Linux

/// An order to systemd, from its sending to the end of its job and the unit's state then.
extension SystemdClient {
    /// Has systemd carry out an order, waits for its end, and checks that the unit stays up. A program may end because of a
    /// reload or a signal. A unit that is ordered to start does its work and ends.
    ///
    /// Orders other than a start do not start a stopped unit and return false. A failed unit does not count as stopped: a restart
    /// starts it, a reload or signal throws ``UnitError/failed``.
    ///
    /// - Parameters:
    ///   - settling: after how many milliseconds the unit is checked.
    ///   - ended: records units that did not stay up although they have not failed.
    @discardableResult
    package mutating func carryOut(
        _ order: UnitOrder, on name: String, settling: Int64 = UnitTimeouts.stayingUp, ended: EndedStarts? = nil
    ) throws(UnitError) -> Bool {
        // Before the state is read: a stop by any user from now on is noticed.
        try persistently { systemd throws(UnitError) in try systemd.subscribe() }
        // Signals name it so, and results of one order count for another one under another name.
        let unit = try ownName(of: name)
        if order.isJob { try watch(unit) }
        guard let found = try stateAfterStart(of: unit, before: order) else { return false }
        if found.load == "not-found" { throw .noSuchUnit }
        if order.isJob, UnitState.isBroken(found.load) { throw .broken(found.load) }
        var asked = order
        if order.isForRunning, ["failed", "inactive"].contains(found.activity) {
            if found.activity == "inactive", try !wasToRun(unit, found, order, ended) { return false }
            guard order.isRestart else { throw .failed }
            asked = .start
        }
        if found.load == "masked", order.isJob { throw .masked }
        if let property = try objection(of: unit, to: asked) { throw .impossible(property) }
        // The start of a unit that a reload or signal has ended has read the new secret.
        if asked.isForRunning, !asked.isRestart, found.isUp, ended?.hasOther(than: found.invocation, of: unit) == true {
            ended?.remove(unit)
            return true
        }
        if asked.isJob { wait(atMost: jobTimeout) }
        let (result, now) = try give(asked, to: unit, found: found)
        wait()
        if let result {
            // Stopped meanwhile, the unit reads the new secret when it starts.
            if result == .skipped, asked.isForRunning, now.isDown { return false }
            // The order has stopped it.
            if order.isRestart, found.isUp, now.activity == "inactive", result != .canceled {
                ended?.add(now.invocation, of: unit)
            }
            throw .job(result)
        }
        // It ends by such a signal, and its own starter starts it.
        if asked.endsPrograms { return true }
        if order == .start {
            try checkItsWorkIsDone(unit, since: now, settling)
        } else {
            try checkItStaysActive(unit, after: order, since: now, settling, ended)
        }
        return true
    }

    /// A unit's state once no start is under way: systemd merges an order into that start, whose process may have
    /// read the old secret. Nil if there is nothing to reload, because the unit waits for its next start by itself
    /// (`Restart=`), which reads the new one. A signal is for the process that there is, so it waits for nothing.
    private mutating func stateAfterStart(of unit: String, before order: UnitOrder) throws(UnitError) -> UnitState? {
        var pause = UnitTimeouts.pause
        while true {
            // The end of that start does not count as a later order of another user.
            moves = [:]
            let found = try state(of: unit)
            guard found.activity == "activating", order.isJob else { return found }
            let part = try property("SubState", of: target(unit)).text
            if part.hasPrefix("auto-restart") { return order == .reload ? nil : found }
            guard !connection.deadline.hasPassed else { throw .timedOut }
            if rests(pause) { throw .cancelled }
            pause = min(2 * pause, UnitTimeouts.longestPause)
        }
    }

    /// Waits for so many milliseconds; true if the wait was cancelled.
    func rests(_ milliseconds: Int64) -> Bool {
        if let cancel { return cancel.wait(atMost: milliseconds) }
        usleep(UInt32(milliseconds * 1_000))
        return false
    }

    /// Sends an order and waits for the end of its job: its result, nil when it succeeded, and the unit's state by then.
    ///
    /// - Parameter found: the unit's state before.
    private mutating func give(
        _ order: UnitOrder, to unit: String, found: UnitState
    ) throws(UnitError) -> (result: JobResult?, now: UnitState) {
        ended = [:]
        areConditionsMet = nil
        let job = try job(of: order, on: unit, found)
        if case .signal = order { return (nil, found) }
        let reported = if let job { try end(of: job, on: unit) } else { String?.none }
        let now = try state(of: unit)
        return (try confirmed(reported, of: order, on: unit, found, now), now)
    }

    /// Waits until systemd has the job no more: its result as it was reported, or nil if that report was missed.
    ///
    /// Looks at the unit from time to time as well: the bus may have dropped the report.
    private mutating func end(of job: String, on unit: String) throws(UnitError) -> String? {
        let deadline = connection.deadline
        var pause = UnitTimeouts.pause
        while true {
            do throws(UnitError) {
                connection.deadline = min(deadline, Deadline(in: pause))
                while ended[job] == nil { try note(try connection.receive()) }
                connection.deadline = deadline
            } catch {
                connection.deadline = deadline
                guard Self.isLoss(error), !deadline.hasPassed else { throw error }
                if error != .timedOut { try reconnect() }
            }
            if try currentJob(of: unit) != job { return ended[job] }
            ended[job] = nil
            pause = min(2 * pause, UnitTimeouts.longestPause)
        }
    }

    mutating func reconnect() throws(UnitError) {
        let deadline = connection.deadline
        let end = min(deadline, Deadline(in: UnitTimeouts.absence))
        while true {
            if rests(UnitTimeouts.pause) { throw .cancelled }
            do throws(UnitError) {
                connection = try BusConnection.open(to: address, deadline: deadline, cancel: cancel)
                return try subscribe()
            } catch {
                guard case .unreachable = error, !end.hasPassed else { throw error }
            }
        }
    }

    private static let runsAlready = JobResult.other(
        "it runs already, so nothing was started; write restart: instead, or remove RemainAfterExit= from a oneshot")

    /// How a job ended, by the unit's state after it; nil when it succeeded.
    ///
    /// - Parameters:
    ///   - reported: the result in systemd's signal; nil: the signal was missed.
    ///   - found: the unit's state before the order.
    ///   - now: its state after the job.
    private mutating func confirmed(
        _ reported: String?, of order: UnitOrder, on unit: String, _ found: UnitState, _ now: UnitState
    ) throws(UnitError) -> JobResult? {
        let isStartedAnew = now.invocation.isEmpty || now.invocation != found.invocation
        if let reported, let result = JobResult(reported) { return result }
        if reported == nil {
            if now.activity == "failed" { return .failed }
            guard isStartedAnew || now.isUp && order != .tryRestart else { return .canceled }
        }
        if order == .start, found.isUp, !isStartedAnew { return Self.runsAlready }
        guard unit.hasSuffix(".service"), now.isUp, !isStartedAnew else { return nil }
        switch order {
        case .tryRestart: return .other("systemd reports success, but the unit was not restarted")
        case .reload, .reloadOrTryRestart:
            let properties = try target(unit)
            let result = try property("ReloadResult", of: properties, in: Self.serviceInterface).text
            return result == "success" ? nil : .failed
        case .start, .signal: return nil
        }
    }
}
