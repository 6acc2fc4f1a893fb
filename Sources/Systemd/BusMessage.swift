internal import AppleClientSecret
import CLibsystemd
import Glibc
import SystemPackage

/// A message of the bus: filled and sent, or received and read from beginning to end.
///
/// Covers the types of the few messages exchanged with systemd. Reading and appending fail when memory is used up or
/// the peer sends other types: `.refused` with the system's error text.
@safe struct BusMessage: ~Copyable {
    let raw: OpaquePointer

    /// Takes over a reference.
    init(adopting raw: OpaquePointer) {
        unsafe self.raw = raw
    }

    deinit {
        unsafe sd_bus_message_unref(raw)
    }

    enum Argument: Hashable {
        case text(String)
        case number(Int32)
        case count(UInt32)
        case texts([String])
    }

    func append(_ argument: Argument) throws(UnitError) {
        switch argument {
        case .text(let text):
            try Self.check(unsafe text.withCString { unsafe sd_bus_message_append_basic(raw, Self.code("s"), $0) })
        case .number(var number):
            try Self.check(unsafe sd_bus_message_append_basic(raw, Self.code("i"), &number))
        case .count(var count):
            try Self.check(unsafe sd_bus_message_append_basic(raw, Self.code("u"), &count))
        case .texts(let texts):
            try Self.check(unsafe sd_bus_message_open_container(raw, Self.code("a"), "s"))
            for text in texts { try append(.text(text)) }
            try Self.check(unsafe sd_bus_message_close_container(raw))
        }
    }

    /// The next value, a string (`s`) or an object's path (`o`).
    func text(_ type: Unicode.Scalar = "s") throws(UnitError) -> String {
        var text: UnsafePointer<CChar>?
        try Self.check(unsafe sd_bus_message_read_basic(raw, Self.code(type), &text))
        return unsafe text.map { unsafe String(cString: $0) } ?? ""
    }

    /// The next value, an unsigned integer (`u`).
    func number() throws(UnitError) -> UInt32 {
        var number: UInt32 = 0
        try Self.check(unsafe sd_bus_message_read_basic(raw, Self.code("u"), &number))
        return number
    }

    /// The next value, an integer (`i`); 0 for a negative one, which none is that is used here.
    private func integer() throws(UnitError) -> UInt64 {
        var number: Int32 = 0
        try Self.check(unsafe sd_bus_message_read_basic(raw, Self.code("i"), &number))
        return UInt64(clamping: number)
    }

    /// The next value, an unsigned integer of 64 bits (`t`).
    private func longNumber() throws(UnitError) -> UInt64 {
        var number: UInt64 = 0
        try Self.check(unsafe sd_bus_message_read_basic(raw, Self.code("t"), &number))
        return number
    }

    /// The next value, a boolean (`b`).
    func bool() throws(UnitError) -> Bool {
        var bool: Int32 = 0
        try Self.check(unsafe sd_bus_message_read_basic(raw, Self.code("b"), &bool))
        return bool != 0
    }

    /// The next value, properties by name; those of other types than ``UnitSettings/Value`` has are left out.
    func properties() throws(UnitError) -> [String: UnitSettings.Value] {
        var properties: [String: UnitSettings.Value] = [:]
        try enter("a", "{sv}")
        while unsafe sd_bus_message_at_end(raw, 0) == 0 {
            try enter("e", "sv")
            let name = try text()
            properties[name] = try property()
            try leave()
        }
        return properties
    }

    /// The next value, a property in a variant; nil for one of another type than ``UnitSettings/Value`` has.
    func property() throws(UnitError) -> UnitSettings.Value? {
        var type: UnsafePointer<CChar>?
        try Self.check(unsafe sd_bus_message_peek_type(raw, nil, &type))
        let contents = unsafe type.map { unsafe String(cString: $0) } ?? ""
        guard Self.types.contains(contents) else {
            try Self.check(unsafe sd_bus_message_skip(raw, "v"))
            return nil
        }
        try enter("v", contents)
        let value = try value(contents)
        try leave()
        return value
    }

    /// Of properties; the last seven are those of items.
    private static let types: Set<String> = [
        "b", "s", "t", "u", "i", "as", "ay", "(bas)", "(uo)", "a(ss)", "a(say)", "a(sb)", "a(ssbt)", "a(sasbttttuii)",
        "a(sba(ss))", "a(ssba(ss))",
    ]

    private func value(_ type: String) throws(UnitError) -> UnitSettings.Value {
        switch type {
        case "b": return .flag(try bool())
        case "s": return .text(try text())
        case "t": return .number(try longNumber())
        case "u": return .number(UInt64(try number()))
        case "i": return .number(try integer())
        case "as": return .list(try texts())
        case "ay":
            var start: UnsafeRawPointer?
            var count = 0
            try Self.check(unsafe sd_bus_message_read_array(raw, Self.code("y"), &start, &count))
            let bytes = unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
            return .text(Hex.encode(bytes))
        case "(uo)":
            try enter("r", "uo")
            _ = try number()
            let path = try text("o")
            try leave()
            return .text(path)
        case "(bas)":
            try enter("r", "bas")
            let isAllowList = try bool()
            let words = try texts()
            try leave()
            return .filter(isAllowList: isAllowList, words)
        default:
            return .items(try items(String(type.dropFirst(2).dropLast())))
        }
    }

    /// The next value, an array of structures with these members, a string and any others.
    func items(_ members: String) throws(UnitError) -> [UnitSettings.Item] {
        var items: [UnitSettings.Item] = []
        try enter("a", "(\(members))")
        while unsafe sd_bus_message_at_end(raw, 0) == 0 {
            try enter("r", members)
            items.append(try item(members))
            try leave()
        }
        try leave()
        return items
    }

    /// A structure's first two strings, and whether a boolean follows that is true.
    private func item(_ members: String) throws(UnitError) -> UnitSettings.Item {
        var rest = members.dropFirst()
        var item = UnitSettings.Item(name: try text())
        if rest.hasPrefix("s") {
            item.path = try text()
            rest = rest.dropFirst()
        } else if rest.hasPrefix("as") {
            _ = try texts()
            rest = rest.dropFirst(2)
        }
        if rest.hasPrefix("b") {
            item.isOptional = try bool()
            rest = rest.dropFirst()
        }
        if !rest.isEmpty { try Self.check(unsafe sd_bus_message_skip(raw, String(rest))) }
        return item
    }

    /// The next value, an array of strings.
    func texts() throws(UnitError) -> [String] {
        try enter("a", "s")
        var texts: [String] = []
        while unsafe sd_bus_message_at_end(raw, 0) == 0 { texts.append(try text()) }
        try leave()
        return texts
    }

    /// The connection that sent it, which the bus writes into each message; nil on a direct connection.
    var sender: String? {
        unsafe sd_bus_message_get_sender(raw).map { unsafe String(cString: $0) }
    }

    /// The object that a signal is of.
    var path: String? { unsafe sd_bus_message_get_path(raw).map { unsafe String(cString: $0) } }

    /// The number of the call that this message answers; nil when it is no reply.
    var answers: UInt64? {
        var cookie: UInt64 = 0
        return unsafe sd_bus_message_get_reply_cookie(raw, &cookie) < 0 ? nil : cookie
    }

    func isSignal(_ interface: String, _ member: String) -> Bool {
        unsafe sd_bus_message_is_signal(raw, interface, member) > 0
    }

    /// Whether this is the reply to a call that failed with the error of this name.
    func isError(_ name: String) -> Bool {
        unsafe sd_bus_message_is_method_error(raw, name) > 0
    }

    /// The error, when this is the reply to a call that failed.
    var error: BusError? {
        guard let error = unsafe sd_bus_message_get_error(raw) else { return nil }
        let name = unsafe error.pointee.name.map { unsafe String(cString: $0) } ?? ""
        let message = unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? name
        return BusError(name: name, message: message, isOfBus: sender == BusConnection.driver)
    }

    /// Goes into the next value, which holds others of these types: an array (`a`), a structure (`r`), an entry (`e`) or a variant
    /// (`v`).
    private func enter(_ container: Unicode.Scalar, _ contents: String) throws(UnitError) {
        try Self.check(unsafe sd_bus_message_enter_container(raw, Self.code(container), contents))
    }

    /// Leaves it after its last value.
    private func leave() throws(UnitError) {
        try Self.check(unsafe sd_bus_message_exit_container(raw))
    }

    private static func code(_ type: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: type.value) }

    private static func check(_ result: Int32) throws(UnitError) {
        guard result < 0 else { return }
        throw .refused("a message that cannot be read: \(Errno(rawValue: -result))")
    }
}
