package import AppleClientSecret

/// A question to the store role of the network program: one JSON object on one line.
package enum StoreQuestion: Equatable, Sendable {
    /// What do these slots hold? At least one, and ``mostSlots`` at most.
    case read([StoreSlot])
    /// Put this token into the slot, if that was last changed at `revision` (0: if there is none).
    case put(StoreSlot, Token, ifAt: Int64)
    /// Put this rollout of the secret in the slot, if its own key was last changed at `revision` (0: if there is none); with
    /// the secret itself in the same transaction, if that is given and was last changed at its revision.
    case putRollout(StoredRollout, of: StoreSlot, ifAt: Int64, with: TokenPut?)
    /// Put this value as a machine's report, if that was last changed at `revision` (0: if there is none).
    case putReport(String, machine: String, ifAt: Int64)
    /// What do the machines report? A page of them, from a ``StoreResult/reports(_:next:)`` on; nil for the first one.
    case readReports(from: [UInt8]?)
    /// Remove a machine's report, unless it was changed at another revision.
    case forgetReport(machine: String, ifAt: Int64)

    /// A token, and the revision at which its slot was last changed.
    package struct TokenPut: Sendable {
        package let token: Token
        package let revision: Int64

        package init(_ token: Token, ifAt revision: Int64) {
            self.token = token
            self.revision = revision
        }
    }

    package static let mostSlots = 1_024

    /// Whether it reads secrets.
    package var isRead: Bool { if case .read = self { true } else { false } }

    /// How many slots the answer is about.
    var slots: Int {
        switch self {
        case .read(let slots): slots.count
        case .put, .putRollout: 1
        case .putReport, .readReports, .forgetReport: 0
        }
    }

    /// In bytes, without the line's end.
    package static let longest = 1 << 19

    package static func == (one: StoreQuestion, other: StoreQuestion) -> Bool { one.request == other.request }

    /// Reads ``request``; nil for anything else, a token that is no compact JWS included.
    package init?(request bytes: [UInt8], sha256: ([UInt8]) -> [UInt8]) {
        guard bytes.count <= Self.longest, let json = try? JSONValue(bytes) else { return nil }
        switch json["do"]?.text {
        case "read":
            let texts = json["slots"]?.elements ?? []
            let slots = texts.compactMap { $0.text.flatMap(StoreSlot.init) }
            guard slots.count == texts.count, (1...Self.mostSlots).contains(slots.count),
                Set(slots).count == slots.count
            else { return nil }
            self = .read(slots)
        case "put":
            guard let slot = json["slot"]?.text.flatMap(StoreSlot.init), let text = json["token"]?.text,
                (try? CompactJWS(Array(text.utf8))) != nil, let revision = json["revision"]?.whole, revision >= 0
            else { return nil }
            self = .put(slot, Token(Array(text.utf8), sha256: sha256), ifAt: revision)
        case "put_rollout":
            guard let slot = json["slot"]?.text.flatMap(StoreSlot.init),
                let rollout = json["rollout"].flatMap({ try? StoredRollout(jsonValue: $0) }),
                let revision = json["revision"]?.whole,
                revision >= 0
            else { return nil }
            var secret: TokenPut?
            if let member = json["secret"], member != .null {
                guard let text = member["token"]?.text, (try? CompactJWS(Array(text.utf8))) != nil,
                    let revision = member["revision"]?.whole, revision >= 0
                else { return nil }
                secret = TokenPut(Token(Array(text.utf8), sha256: sha256), ifAt: revision)
            }
            self = .putRollout(rollout, of: slot, ifAt: revision, with: secret)
        case "put_report":
            guard let machine = json["machine"]?.text, StoredReport.isName(machine), let value = json["value"]?.text,
                let revision = json["revision"]?.whole, revision >= 0
            else { return nil }
            self = .putReport(value, machine: machine, ifAt: revision)
        case "read_reports":
            switch json["from"] {
            case nil, .null: self = .readReports(from: nil)
            case .string(let text):
                guard let from = Base64.decode(text) else { return nil }
                self = .readReports(from: from)
            default: return nil
            }
        case "forget_report":
            guard let machine = json["machine"]?.text, StoredReport.isName(machine),
                let revision = json["revision"]?.whole, revision > 0
            else { return nil }
            self = .forgetReport(machine: machine, ifAt: revision)
        default: return nil
        }
    }

    /// The question as it goes to the store role.
    package var request: [UInt8] {
        switch self {
        case .read(let slots):
            JSONText.object([
                ("do", .string("read")), ("slots", .array(slots.map { .string($0.description) })),
            ]).bytes
        case .put(let slot, let token, let revision):
            token.withBytes { bytes in
                JSONText.object([
                    ("do", .string("put")), ("slot", .string(slot.description)),
                    ("token", .string(String(decoding: bytes, as: UTF8.self))), ("revision", .number(Int(revision))),
                ]).bytes
            }
        case .putRollout(let rollout, let slot, let revision, let secret):
            JSONText.object([
                ("do", .string("put_rollout")), ("slot", .string(slot.description)), ("rollout", rollout.jsonText),
                ("revision", .number(Int(revision))), ("secret", secret.map(Self.json) ?? .null),
            ]).bytes
        case .putReport(let value, let machine, let revision):
            JSONText.object([
                ("do", .string("put_report")), ("machine", .string(machine)), ("value", .string(value)),
                ("revision", .number(Int(revision))),
            ]).bytes
        case .readReports(let from):
            JSONText.object([("do", .string("read_reports")), ("from", .text(from.map(Base64.encode)))]).bytes
        case .forgetReport(let machine, let revision):
            JSONText.object([
                ("do", .string("forget_report")), ("machine", .string(machine)), ("revision", .number(Int(revision))),
            ]).bytes
        }
    }

    private static func json(_ secret: TokenPut) -> JSONText {
        secret.token.withBytes { bytes in
            .object([
                ("token", .string(String(decoding: bytes, as: UTF8.self))), ("revision", .number(Int(secret.revision))),
            ])
        }
    }
}
