import AppleClientSecret
import Failures

/// A key of the store, below the configured prefix: of a secret, of the rollout of one, or of a machine's report.
///
/// Its text is `secret/SLOT`, `rollout/SLOT` or `host/NAME`, with SLOT as in ``StoreSlot`` and the name percent-encoded. In etcd
/// `PREFIX/v1/` is before it.
package struct StoreKey: Hashable, Sendable, LosslessStringConvertible {
    /// The kind of content of the key. The raw value is the key's first word.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case secret
        case rollout
        case report = "host"
    }

    package let kind: Kind
    /// The part after the kind, percent-encoded.
    private let name: String

    private init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }

    /// The key of the secret in a slot.
    package static func secret(_ slot: StoreSlot) -> StoreKey { StoreKey(.secret, slot.description) }

    /// The key of the rollout of the secret in a slot.
    package static func rollout(_ slot: StoreSlot) -> StoreKey { StoreKey(.rollout, slot.description) }

    /// The key of a machine's report.
    package static func report(of machine: String) -> StoreKey { StoreKey(.report, PercentCoding.encode(machine)) }

    /// The key written in `text`; nil for any other form, and for one that encodes the same name differently.
    package init?(_ text: String) {
        guard let slash = text.firstIndex(of: "/"), let kind = Kind(rawValue: String(text[..<slash])) else {
            return nil
        }
        self.init(kind, String(text[text.index(after: slash)...]))
        switch kind {
        case .secret, .rollout: guard StoreSlot(name)?.description == name else { return nil }
        case .report: guard machine.map({ PercentCoding.encode($0) }) == name else { return nil }
        }
    }

    package var description: String { "\(kind.rawValue)/\(name)" }

    /// In bytes: the longest name of a host (RFC 1035, section 2.3.4).
    private static let longestName = 253

    /// The machine whose report it holds. Nil for another kind, and for a name that no configuration accepts: in a message, it
    /// could look like our own sentence.
    package var machine: String? {
        guard kind == .report, let machine = PercentCoding.decode(Array(name.utf8)), !machine.isEmpty,
            machine.utf8.count <= Self.longestName,
            machine.utf8.allSatisfy({ $0.isASCIIAlphanumeric || "-._".utf8.contains($0) })
        else { return nil }
        return machine
    }

    /// The kind of content as errors show it.
    var words: String {
        switch kind {
        case .secret: name
        case .rollout: "the rollout of \(name)"
        case .report: "the report of \(Printable.name(machine ?? name))"
        }
    }

    /// The key in etcd, below the configured prefix.
    package func bytes(below prefix: String) -> [UInt8] { Array("\(prefix)/v1/\(description)".utf8) }

    /// The key that these bytes are in etcd; nil for one that is not of this program.
    init?(_ bytes: [UInt8], below prefix: String) {
        let folder = Array("\(prefix)/v1/".utf8)
        guard bytes.starts(with: folder), let text = String(validating: bytes[folder.count...], as: UTF8.self) else {
            return nil
        }
        self.init(text)
    }

    /// All keys of a kind in etcd: from the first one on, and before the end.
    static func range(of kind: Kind, below prefix: String) -> (first: [UInt8], end: [UInt8]) {
        let folder = Array("\(prefix)/v1/\(kind.rawValue)".utf8)
        return (folder + [UInt8(ascii: "/")], folder + [UInt8(ascii: "/") + 1])
    }
}

extension StoreKey: JSONString {}
extension StoreKey.Kind: JSONString {}

/// In the order in which etcd lists them.
extension StoreKey: Comparable {
    package static func < (one: StoreKey, other: StoreKey) -> Bool {
        one.description.utf8.lexicographicallyPrecedes(other.description.utf8)
    }
}
