import Linux
import SystemPackage

/// An order whose answer is lost: the bus or systemd goes away before it comes, or the bus drops it. Only the unit then shows
/// whether systemd has the order.
extension SystemdClient {
    /// Sends an order. The job that systemd makes of it; nil for a signal, and if its answer is lost and the unit shows that the
    /// order was carried out. An order of which nothing is to be seen is sent once more.
    ///
    /// - Parameter found: the unit's state before.
    mutating func job(of order: UnitOrder, on unit: String, _ found: UnitState) throws(UnitError) -> String? {
        let deadline = connection.deadline
        do throws(UnitError) {
            return try send(order, to: unit, by: deadline)
        } catch {
            guard Self.isLoss(error) else { throw error }
            if error == .timedOut, deadline.hasPassed { throw unanswered() }
        }
        try reconnect()
        if order.isJob, let job = try currentJob(of: unit) { return job }
        if try isCarriedOut(order, on: unit, found) { return nil }
        do throws(UnitError) {
            return try send(order, to: unit, by: deadline)
        } catch {
            throw error == .timedOut ? unanswered() : error
        }
    }

    static func isLoss(_ error: UnitError) -> Bool {
        switch error {
        case .unreachable(.permissionDenied): false
        case .unreachable, .timedOut: true
        default: false
        }
    }

    /// - Parameter deadline: of all that the order takes; its answer has to come sooner.
    private mutating func send(
        _ order: UnitOrder, to unit: String, by deadline: Deadline
    ) throws(UnitError) -> String? {
        connection.deadline = min(deadline, Deadline(in: answerTimeout))
        defer { connection.deadline = deadline }
        if case .signal(let number) = order {
            _ = try answer(
                to: order.method, of: Self.manager, [.text(unit), .text("main"), .number(number)], unit)
            return nil
        }
        return try answer(to: order.method, of: Self.manager, [.text(unit), .text("replace")], unit).text("o")
    }

    mutating func currentJob(of unit: String) throws(UnitError) -> String? {
        let job = try property("Job", of: target(unit)).text
        return job == "/" ? nil : job
    }

    /// Whether the unit was started since, or has ended by a signal. A reload leaves no such trace.
    private mutating func isCarriedOut(
        _ order: UnitOrder, on unit: String, _ found: UnitState
    ) throws(UnitError) -> Bool {
        let now = try state(of: unit)
        return !now.invocation.isEmpty && now.invocation != found.invocation || !order.isJob && now.isDown
    }
}
