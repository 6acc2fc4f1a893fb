/// An error that a method call over the bus was answered with.
struct BusError: Error, Hashable {
    let name: String
    /// A text for operators.
    let message: String
    /// Whether it comes from the message bus, and not from systemd.
    let isOfBus: Bool

    static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
    static let interactive = "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"

    /// Whether it is an error of a call that systemd itself made. The only one that it makes for an order asks polkit.
    var isOfSystemdsCall: Bool {
        guard !isOfBus else { return false }
        let ofCalls = ["ServiceUnknown", "NameHasNoOwner", "NoReply", "Timeout", "TimedOut", "Disconnected"]
        return ofCalls.contains { name == "org.freedesktop.DBus.Error." + $0 }
            || name.hasPrefix("org.freedesktop.DBus.Error.Spawn.") || name.hasPrefix("org.freedesktop.PolicyKit1.")
    }

    /// Whether it may be about polkit's unit, which the bus has systemd start, as well as about the one that was named.
    var mayBeOfPolkit: Bool {
        !isOfBus
            && (name == Self.accessDenied || name == Self.interactive || name.hasPrefix("org.freedesktop.systemd1."))
    }
}
