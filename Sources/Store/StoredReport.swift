import AppleClientSecret
import Failures

/// A machine's report as it lies in the store. Its content is not read here.
package struct StoredReport: Hashable, Sendable {
    package let machine: String
    /// Nil for a value that is no text of one line, or has more than ``StoreValue/longest`` bytes.
    package let value: String?
    /// When it was last changed.
    package let revision: Int64

    package init(machine: String, value: String?, revision: Int64) {
        self.machine = machine
        self.value = value
        self.revision = revision
    }

    init(machine: String, _ entry: EtcdAnswer.Entry) {
        // Escapes of control characters would make an answer of the role six times as long.
        let isRead = entry.value.count <= StoreValue.longest && entry.value.allSatisfy { $0 >= 0x20 }
        self.init(
            machine: machine, value: isRead ? String(validating: entry.value, as: UTF8.self) : nil,
            revision: entry.revision)
    }

    /// As it stands in an answer of the store role.
    var json: JSONText {
        .object([
            ("machine", .string(machine)), ("value", .text(value)), ("revision", .number(Int(revision))),
        ])
    }

    /// Reads ``json``; nil for anything else.
    init?(_ json: JSONValue) {
        guard let machine = json["machine"]?.text, Self.isName(machine), let revision = json["revision"]?.whole,
            json["value"] == .null || json["value"]?.text != nil
        else { return nil }
        self.init(machine: machine, value: json["value"]?.text, revision: revision)
    }

    /// In bytes: the longest name of a host (RFC 1035, section 2.3.4).
    private static let longestName = 253

    /// Whether a machine may have this name: only names in which messages need no escapes.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longestName && Printable.line(text) == text
    }

    /// The key in etcd, below the configured prefix.
    static func key(of machine: String, below prefix: String) -> [UInt8] {
        keys(below: prefix).first + PercentCoding.encode(machine).utf8
    }

    /// Whether the key of one machine follows that of another in etcd.
    package static func follows(_ machine: String, after other: String) -> Bool {
        key(of: other, below: "").lexicographicallyPrecedes(key(of: machine, below: ""))
    }

    /// The keys of all machines: from the first one on, and before the end.
    static func keys(below prefix: String) -> (first: [UInt8], end: [UInt8]) {
        let folder = Array("\(prefix)/v1/host".utf8)
        return (folder + [UInt8(ascii: "/")], folder + [UInt8(ascii: "/") + 1])
    }

    /// The machine whose key this is; nil for a key that no machine has.
    static func machine(of key: [UInt8], below prefix: String) -> String? {
        let folder = keys(below: prefix).first
        // A key that encodes the same name differently belongs to no machine.
        guard key.starts(with: folder), let machine = PercentCoding.decode(key[folder.count...]), isName(machine),
            self.key(of: machine, below: prefix) == key
        else { return nil }
        return machine
    }
}
