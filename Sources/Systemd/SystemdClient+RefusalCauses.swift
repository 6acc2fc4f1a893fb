/// The cause of an order that is not carried out: the unit, one that it needs, polkit, or the bus. systemd's answer does not show
/// it. It passes on the errors of the bus and of polkit's unit as if they were about the named unit.
extension SystemdClient {
    private static let polkit = "org.freedesktop.PolicyKit1"

    /// Calls a method for which systemd asks polkit whether this user may have it done with the unit.
    mutating func give(
        _ member: String, of target: BusConnection.Target, _ arguments: [BusMessage.Argument], _ unit: String
    ) throws(UnitError) -> BusMessage {
        do throws(UnitError) {
            return try answer(to: member, of: target, arguments, unit)
        } catch {
            throw error == .timedOut ? unanswered() : error
        }
    }

    /// The same, where an answer may be missing because it was lost.
    mutating func answer(
        to member: String, of target: BusConnection.Target, _ arguments: [BusMessage.Argument], _ unit: String
    ) throws(UnitError) -> BusMessage {
        if let silence { throw silence }
        let message = try reply(member, of: target, arguments)
        if let error = message.error { throw reason(for: error, unit) }
        return message
    }

    /// systemd asks polkit over the bus, and root needs no permission.
    private var asksPolkit: Bool { connection.isBus && !isRoot }

    /// Why an order has no answer: if systemd answers something else meanwhile, it waits for polkit.
    mutating func unanswered() -> UnitError {
        guard asksPolkit else { return .timedOut }
        wait()
        do throws(UnitError) {
            let manager = BusConnection.Target(path: Self.manager.path, interface: Self.propertyInterface)
            _ = try property("Version", of: manager, in: Self.manager.interface)
        } catch {
            return error
        }
        let reason = UnitError.polkitFailed("no answer")
        silence = reason
        return reason
    }

    private mutating func reason(for error: BusError, _ unit: String) -> UnitError {
        if asksPolkit, let reason = polkitFailure(in: error) { return reason }
        let reason = UnitError(error)
        switch reason {
        case .masked, .noSuchUnit:
            let load = reason == .masked ? "masked" : "not-found"
            guard let found = try? state(of: unit).load, found != load else { return reason }
            return .needed(error.message)
        default: return reason
        }
    }

    /// The error as a polkit error; nil if it is about something else.
    private mutating func polkitFailure(in error: BusError) -> UnitError? {
        if error.isOfSystemdsCall { return .polkitFailed(error.message) }
        guard error.mayBeOfPolkit else { return nil }
        do throws(UnitError) {
            if try call("NameHasOwner", of: .bus, [.text(Self.polkit)]).bool() { return nil }
            guard try call("ListActivatableNames", of: .bus, []).texts().contains(Self.polkit) else {
                return UnitError(error) == .notPermitted ? .polkitMissing : nil
            }
            // As the bus does when a program asks it.
            let answer = try reply("StartServiceByName", of: .bus, [.text(Self.polkit), .count(0)])
            return answer.error.map { .polkitFailed($0.message) }
        } catch {
            return nil
        }
    }
}
