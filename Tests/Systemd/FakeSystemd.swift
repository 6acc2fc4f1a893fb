import CLibsystemd
import Foundation
import Linux
import Synchronization
import TestSupport

/// A stand-in for systemd's manager, on a socket of a test's own like systemd's private one, or behind a message bus: it
/// answers orders to units as a test says.
final class FakeSystemd: Sendable {
    /// How it behaves towards one connection.
    struct Script: Sendable {
        var load = "loaded"
        var activity = "active"
        /// The invocation id; 0: none is known.
        var invocation: UInt8 = 1
        /// The unit's state in each query before the order, until they are used up.
        var earlier: [(activity: String, invocation: UInt8)] = []
        /// The unit's state in each query after the order; the last one repeats. Empty: as before.
        var later: [(activity: String, invocation: UInt8)] = []
        /// Its properties by which it takes no orders of some kinds, such as `RefuseManualStop`.
        var refusals: Set<String> = []
        var canReload = true
        var type = "simple"
        var part = "start"
        /// What kept it from its last start: `Condition`, `Assert` or `exec-condition`.
        var refusal: String?
        /// When that start was tried, when it stopped before, and when it last ran; 0: it has not run yet.
        var tried: UInt64 = 3
        var stopped: UInt64 = 2
        var ran: UInt64 = 1
        /// Somebody stops the unit after the order was carried out.
        var isStopped = false
        /// The error that orders are answered with.
        var error: (name: String, message: String)?
        /// That error comes from the message bus.
        var isErrorOfBus = false
        /// What the bus says of polkit.
        var polkit = Polkit.running
        /// The unit's LoadState after the order; nil: as before.
        var laterLoad: String?
        /// How the ordered job ends; nil: never.
        var result: String? = "done"
        /// The job ends before its order is answered.
        var isHasty = false
        /// Orders get no answer.
        var isSilent = false
        /// The connection is closed instead of an answer to an order.
        var hangsUp = false
        /// The result of the last reload, as the unit has it.
        var reload = "success"
        /// How many queries after the end was reported still find the job; it is reported once more then.
        var lingering = 0
        /// It answers as a message bus would, with systemd as one connection of several.
        var isBus = false
        /// What another connection of the bus says of the job, before and after its order is answered.
        var forged: String?
        /// The other connection does not stop saying so.
        var isFlooded = false
        /// The connection is closed after the order was answered, and the job ends; the state of the unit after that is
        /// `later`.
        var isExecutedAnew = false
        /// The connection is closed instead of an answer to this query of the unit's state after the order; 0: to none.
        var leavesAtQuery = 0
        /// The connection is closed instead of an answer when the unit is loaded for the so-manieth time after the order.
        var leavesAtLoads: Set<Int> = []
        /// This query gets no answer; 0: each does.
        var ignoredQuery = 0
        /// The end of the job is not reported.
        var isUnreported = false
        /// What becomes of the answer to the first order.
        var lost: Loss?
        /// The unit is unloaded as soon as its job has ended, after what has changed was reported.
        var isForgotten = false
    }

    enum Loss: Hashable, Sendable {
        /// The connection is closed instead.
        case closed
        case dropped
    }

    enum Polkit: Hashable, Sendable {
        case running
        case notInstalled
        /// The bus can have it started.
        case idle
        /// The bus cannot, for this reason.
        case failing(String)
    }

    private let directory: TemporaryDirectory
    private let seen = Mutex<[String]>([])
    /// Of the unit's state, since the order.
    private let queries = Mutex(0)
    private let loads = Mutex(0)
    private let ordered = DispatchSemaphore(value: 0)

    var path: String { directory("private") }
    /// The orders received: method and arguments.
    var orders: [String] { seen.withLock { $0 } }

    init(_ script: Script) throws {
        directory = try TemporaryDirectory()
        let listener = try ListeningSocket(path: directory("private"), mode: 0o600)
        Thread.detachNewThread { [self] in
            let isAskedAgain =
                script.isExecutedAnew || script.leavesAtQuery + script.ignoredQuery > 0 || script.isErrorOfBus
                || script.lost != nil
            for _ in 0..<((isAskedAgain ? 2 : 1) + script.leavesAtLoads.count) {
                _ = Descriptor.ready([listener.raw], atMost: 60_000)
                guard let accepted = try? listener.accept() else { continue }
                // A client closes its connection only after it has opened another one.
                let connection = accepted.release()
                Thread.detachNewThread { self.serve(connection, script) }
            }
        }
    }

    /// Waits until an order has come.
    func waitForOrder() { ordered.wait() }

    private func serve(_ connection: Int32, _ script: Script) {
        var script = script
        var made: OpaquePointer?
        unsafe sd_bus_new(&made)
        defer { unsafe sd_bus_close_unref(made) }
        guard let bus = unsafe made else { return }
        unsafe sd_bus_set_fd(bus, connection, connection)
        unsafe sd_bus_set_server(bus, 1, sd_id128_t())
        unsafe sd_bus_start(bus)
        while true {
            var call: OpaquePointer?
            let progress = unsafe sd_bus_process(bus, &call)
            if progress < 0 { return }
            if let call = unsafe call {
                defer { unsafe sd_bus_message_unref(call) }
                // sd-bus also reports when the other end has gone.
                if unsafe sd_bus_message_is_method_call(call, nil, nil) == 0 { continue }
                if unsafe !answer(call, on: bus, &script) { return }
            } else if progress == 0 {
                unsafe sd_bus_wait(bus, UInt64.max)
            }
        }
    }

    /// False: close the connection.
    private func answer(_ call: OpaquePointer, on bus: OpaquePointer, _ script: inout Script) -> Bool {
        guard let name = unsafe sd_bus_message_get_member(call) else { return true }
        switch unsafe String(cString: name) {
        case "Hello": unsafe reply(to: call, from: Self.driver, .text(":1.7"))
        case "AddMatch": unsafe reply(to: call, from: Self.driver)
        case "GetNameOwner": unsafe reply(to: call, from: Self.driver, .text(Self.owner))
        case "NameHasOwner": unsafe reply(to: call, from: Self.driver, .flag(script.polkit == .running))
        case "ListActivatableNames":
            let names = [Self.driver] + (script.polkit == .notInstalled ? [] : ["org.freedesktop.PolicyKit1"])
            unsafe reply(to: call, from: Self.driver, .array(of: "s", names.map { .text($0) }))
        case "StartServiceByName":
            if case .failing(let reason) = script.polkit {
                unsafe refuse(call, "org.freedesktop.DBus.Error.Failed", reason, from: Self.driver)
            } else {
                unsafe reply(to: call, from: Self.driver, .count(1))
            }
        case "LoadUnit":
            let load =
                orders.isEmpty
                ? 0
                : loads.withLock {
                    $0 += 1
                    return $0
                }
            if script.leavesAtLoads.contains(load) { return false }
            if script.forged != nil { unsafe reply(to: call, from: Self.stranger, .path("/stranger")) }
            unsafe reply(to: call, .path(Self.unit))
        case "Get":
            _ = unsafe text("s", of: call)
            let name = unsafe text("s", of: call)
            // The first property of each query.
            if name == "LoadState", !orders.isEmpty {
                let query = queries.withLock {
                    $0 += 1
                    return $0
                }
                if query == script.leavesAtQuery { return false }
                if query == script.ignoredQuery { return true }
            }
            if name == "LoadState", orders.isEmpty, !script.earlier.isEmpty {
                (script.activity, script.invocation) = script.earlier.removeFirst()
            }
            if name == "LoadState", !orders.isEmpty, !script.later.isEmpty {
                (script.activity, script.invocation) = script.later[0]
                if script.later.count > 1 { script.later.removeFirst() }
                if script.isStopped, script.activity == "inactive" { unsafe removed(10, "done", on: bus) }
            }
            unsafe reply(to: call, .variant(property(name ?? "", script)))
            if name == "Job", script.lingering > 0 {
                script.lingering -= 1
                if let result = script.result { unsafe removed(8, result, on: bus) }
            }
        case "Subscribe": unsafe reply(to: call)
        case let order:
            var words = [order]
            while let word = unsafe argument(of: call) { words.append(word) }
            seen.withLock { $0.append(words.joined(separator: " ")) }
            defer { ordered.signal() }
            if script.hangsUp { return false }
            if script.isSilent { return true }
            if let lost = script.lost, orders.count == 1 { return lost == .dropped }
            if let error = script.error {
                unsafe refuse(call, error.name, error.message, from: script.isErrorOfBus ? Self.driver : Self.owner)
                return true
            }
            // Other units' jobs end all the time.
            unsafe removed(7, "failed", of: "b.service", on: bus)
            if let forged = script.forged {
                repeat {
                    unsafe removed(8, forged, from: Self.stranger, on: bus)
                } while unsafe script.isFlooded && sd_bus_flush(bus) >= 0 && sd_bus_is_open(bus) > 0
                unsafe ownerChanged(from: Self.stranger, on: bus)
            }
            if order == "TryRestartUnit", script.later.isEmpty, script.result == "done" { script.invocation += 1 }
            if script.isForgotten {
                unsafe changed(areConditionsMet: script.refusal == nil, on: bus)
                (script.refusal, script.tried, script.invocation) = (nil, 0, 0)
            }
            if script.isHasty, let result = script.result { unsafe removed(8, result, on: bus) }
            if order == "KillUnit" {
                unsafe reply(to: call)
            } else {
                unsafe reply(to: call, .path(job(8)))
            }
            unsafe removed(9, "failed", of: "b.service", on: bus)
            if let forged = script.forged { unsafe removed(8, forged, from: Self.stranger, on: bus) }
            if script.isExecutedAnew {
                if script.isBus { unsafe ownerChanged(from: Self.driver, on: bus) }
                unsafe sd_bus_flush(bus)
                return false
            }
            if !script.isHasty, !script.isUnreported, order != "KillUnit", let result = script.result {
                unsafe removed(8, result, on: bus)
            }
        }
        return true
    }

    /// A property of the unit.
    private func property(_ name: String, _ script: Script) -> Value {
        switch name {
        case "LoadState": .text(orders.isEmpty ? script.load : script.laterLoad ?? script.load)
        case "ActiveState": .text(script.activity)
        case "Type": .text(script.type)
        case "SubState": .text(script.part)
        case "Result": .text(script.refusal == "exec-condition" ? "exec-condition" : "success")
        case "ConditionResult", "AssertResult": .flag(script.refusal.map { name != $0 + "Result" } ?? true)
        case "ConditionTimestampMonotonic", "AssertTimestampMonotonic": .number(script.tried)
        case "ActiveEnterTimestampMonotonic": .number(script.ran)
        case "InactiveEnterTimestampMonotonic": .number(script.stopped)
        case "CanReload": .flag(script.canReload)
        case "RefuseManualStart", "RefuseManualStop": .flag(script.refusals.contains(name))
        case "Id": .text("a.service")
        case "ReloadResult": .text(script.reload)
        case "Job": .structure(script.lingering > 0 ? [.count(8), .path(job(8))] : [.count(0), .path("/")])
        default: .bytes(script.invocation == 0 ? [] : [script.invocation])
        }
    }

    private static let unit = "/org/freedesktop/systemd1/unit/a_2eservice"
    /// The connections of a bus: itself, systemd's and another user's.
    private static let driver = "org.freedesktop.DBus"
    private static let owner = ":1.1"
    private static let stranger = ":1.66"

    private func job(_ number: UInt32) -> String { "/org/freedesktop/systemd1/job/\(number)" }

    private func removed(
        _ number: UInt32, _ result: String, of unit: String = "a.service", from sender: String = owner,
        on bus: OpaquePointer
    ) {
        unsafe signal(
            "JobRemoved", of: "org.freedesktop.systemd1.Manager", at: "/org/freedesktop/systemd1",
            [.count(number), .path(job(number)), .text(unit), .text(result)], from: sender, on: bus)
    }

    /// Says how the unit's conditions were when it was to start.
    private func changed(areConditionsMet: Bool, on bus: OpaquePointer) {
        let properties: [(String, Value)] = [
            ("ConditionTimestampMonotonic", .number(3)), ("ConditionResult", .flag(areConditionsMet)),
        ]
        unsafe signal(
            "PropertiesChanged", of: "org.freedesktop.DBus.Properties", at: Self.unit,
            [
                .text("org.freedesktop.systemd1.Unit"),
                .array(of: "{sv}", properties.map { .entry([.text($0.0), .variant($0.1)]) }), .array(of: "s", []),
            ], from: Self.owner, on: bus)
    }

    /// Says that systemd's name has no owner.
    private func ownerChanged(from sender: String, on bus: OpaquePointer) {
        unsafe signal(
            "NameOwnerChanged", of: Self.driver, at: "/org/freedesktop/DBus",
            [.text("org.freedesktop.systemd1"), .text(Self.owner), .text("")], from: sender, on: bus)
    }

    private func signal(
        _ member: String, of interface: String, at path: String, _ values: [Value], from sender: String,
        on bus: OpaquePointer
    ) {
        var made: OpaquePointer?
        unsafe sd_bus_message_new_signal(bus, &made, path, interface, member)
        guard let signal = unsafe made else { return }
        for value in values { unsafe append(value, to: signal) }
        unsafe send(signal, from: sender, on: bus)
    }

    private func send(_ message: OpaquePointer, from sender: String, on bus: OpaquePointer?) {
        // Where there is no bus, systemd names no sender, and the other end reads none.
        unsafe sd_bus_message_set_sender(message, sender)
        unsafe sd_bus_send(bus, message, nil)
        unsafe sd_bus_message_unref(message)
    }

    private func reply(to call: OpaquePointer, from sender: String = owner, _ values: Value...) {
        var made: OpaquePointer?
        unsafe sd_bus_message_new_method_return(call, &made)
        guard let answer = unsafe made else { return }
        for value in values { unsafe append(value, to: answer) }
        unsafe send(answer, from: sender, on: nil)
    }

    private func refuse(_ call: OpaquePointer, _ name: String, _ message: String, from sender: String) {
        var described = unsafe sd_bus_error()
        unsafe sd_bus_error_set(&described, name, message)
        defer { unsafe sd_bus_error_free(&described) }
        var made: OpaquePointer?
        unsafe sd_bus_message_new_method_error(call, &made, &described)
        guard let answer = unsafe made else { return }
        unsafe send(answer, from: sender, on: nil)
    }

    /// A value of a message.
    private indirect enum Value {
        case text(String)
        case path(String)
        case flag(Bool)
        case count(UInt32)
        case number(UInt64)
        case bytes([UInt8])
        case array(of: String, [Value])
        case structure([Value])
        case entry([Value])
        case variant(Value)

        /// As in a message's signature.
        var type: String {
            switch self {
            case .text: "s"
            case .path: "o"
            case .flag: "b"
            case .count: "u"
            case .number: "t"
            case .bytes: "ay"
            case .array(let type, _): "a" + type
            case .structure(let values): "(" + values.map(\.type).joined() + ")"
            case .entry(let values): "{" + values.map(\.type).joined() + "}"
            case .variant: "v"
            }
        }
    }

    private func append(_ value: Value, to message: OpaquePointer) {
        switch value {
        case .text(let text), .path(let text):
            _ = unsafe text.withCString { unsafe sd_bus_message_append_basic(message, code(value.type), $0) }
        case .flag(let flag):
            var number: Int32 = flag ? 1 : 0
            unsafe sd_bus_message_append_basic(message, code("b"), &number)
        case .count(var number): unsafe sd_bus_message_append_basic(message, code("u"), &number)
        case .number(var number): unsafe sd_bus_message_append_basic(message, code("t"), &number)
        case .bytes(let bytes): unsafe sd_bus_message_append_array(message, code("y"), bytes, bytes.count)
        case .array(let type, let values): unsafe append(values, in: "a", type, to: message)
        case .structure(let values): unsafe append(values, in: "r", values.map(\.type).joined(), to: message)
        case .entry(let values): unsafe append(values, in: "e", values.map(\.type).joined(), to: message)
        case .variant(let value): unsafe append([value], in: "v", value.type, to: message)
        }
    }

    private func append(_ values: [Value], in container: String, _ types: String, to message: OpaquePointer) {
        unsafe sd_bus_message_open_container(message, code(container), types)
        for value in values { unsafe append(value, to: message) }
        unsafe sd_bus_message_close_container(message)
    }

    private func code(_ type: String) -> CChar { CChar(truncatingIfNeeded: type.utf8.first ?? 0) }

    private func text(_ type: Unicode.Scalar, of message: OpaquePointer) -> String? {
        var text: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_read_basic(message, CChar(type.value), &text) > 0 else { return nil }
        return unsafe text.map { unsafe String(cString: $0) }
    }

    private func argument(of message: OpaquePointer) -> String? {
        var type: CChar = 0
        guard unsafe sd_bus_message_peek_type(message, &type, nil) > 0 else { return nil }
        if type == CChar(115) { return unsafe text("s", of: message) }
        var number: Int32 = 0
        unsafe sd_bus_message_read_basic(message, type, &number)
        return String(number)
    }
}
