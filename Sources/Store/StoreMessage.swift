package import AppleClientSecret
import SignIn

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
    /// In bytes, without the line's end.
    package static let longest = 1 << 19

    package static func == (one: StoreQuestion, other: StoreQuestion) -> Bool { one.request == other.request }

    /// Reads ``request``; nil for anything else, a token that is no compact JWS included.
    package init?(request bytes: [UInt8], sha256: ([UInt8]) -> [UInt8]) {
        guard bytes.count <= Self.longest, let json = try? JSONValue(bytes, duplicates: .refused) else { return nil }
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
                let rollout = json["rollout"].flatMap(StoredRollout.init), let revision = json["revision"]?.whole,
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
                ("do", .string("put_rollout")), ("slot", .string(slot.description)), ("rollout", rollout.json),
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

/// The result of a ``StoreQuestion``: one JSON object on one line.
package enum StoreResult: Equatable, Sendable {
    /// What the slots hold, in the order they were named in, and the rollouts of those, by their number in that order,
    /// where there is one.
    case read([StoreFinding], rollouts: [Int: RolloutFinding] = [:])
    /// The slot holds the token now, or held it already, at this revision.
    case put(revision: Int64)
    /// The slot was changed at another revision than was said, and holds this.
    case conflict(StoreFinding)
    /// No rollout was put, nor the secret with it, for one of both was changed at another revision than was said: what is
    /// there, nil for no rollout, and where a secret was to be put, what its slot holds.
    case rolloutFound(RolloutFinding?, secret: StoreFinding?)
    /// No report was put, for it was changed at another revision than was said; what is there, nil for nothing.
    case reportFound(StoredReport?)
    /// A page of the machines' reports, and where the next one begins; nil for the last one.
    case reports([StoredReport], next: [UInt8]?)
    /// The report is gone, or was changed at another revision.
    case reportForgotten
    case failed(StoreFailure)

    /// The line without its end.
    package var answer: JSONText {
        switch self {
        case .read(let findings, let rollouts):
            .object([
                ("result", .string("read")),
                ("values", .array(findings.enumerated().map { Self.json($1, rollout: rollouts[$0]) })),
            ])
        case .put(let revision): .object([("result", .string("put")), ("revision", .number(Int(revision)))])
        case .conflict(let finding): .object([("result", .string("conflict")), ("value", Self.json(finding))])
        case .rolloutFound(let rollout, let secret):
            .object([
                ("result", .string("rollout_found")), ("rollout", rollout?.json ?? .null),
                ("secret", secret.map { Self.json($0) } ?? .null),
            ])
        case .reportFound(let report):
            .object([("result", .string("report_found")), ("report", report?.json ?? .null)])
        case .reports(let reports, let next):
            .object([
                ("result", .string("reports")), ("reports", .array(reports.map(\.json))),
                ("next", .text(next.map(Base64.encode))),
            ])
        case .reportForgotten: .object([("result", .string("report_forgotten"))])
        case .failed(let failure):
            .object([
                ("result", .string("failed")), ("code", .string(failure.code.rawValue)),
                ("detail", .text(failure.detail)), ("retry_after", failure.retryAfter.map(JSONText.number) ?? .null),
            ])
        }
    }

    /// Reads an ``answer``; nil for anything else.
    package init?(answer bytes: [UInt8], sha256: ([UInt8]) -> [UInt8]) {
        guard let json = try? JSONValue(bytes, duplicates: .refused) else { return nil }
        switch json["result"]?.text {
        case "read":
            let values = json["values"]?.elements ?? []
            let findings = values.compactMap { Self.finding($0, sha256) }
            guard findings.count == values.count else { return nil }
            var rollouts: [Int: RolloutFinding] = [:]
            for (number, value) in values.enumerated() {
                guard let member = value["rollout"] else { continue }
                guard let rollout = RolloutFinding(member) else { return nil }
                rollouts[number] = rollout
            }
            self = .read(findings, rollouts: rollouts)
        case "put":
            guard let revision = json["revision"]?.whole else { return nil }
            self = .put(revision: revision)
        case "conflict":
            guard let finding = json["value"].flatMap({ Self.finding($0, sha256) }) else { return nil }
            self = .conflict(finding)
        case "rollout_found":
            var rollout: RolloutFinding?
            if let member = json["rollout"], member != .null {
                guard let read = RolloutFinding(member) else { return nil }
                rollout = read
            }
            var secret: StoreFinding?
            if let member = json["secret"], member != .null {
                guard let read = Self.finding(member, sha256) else { return nil }
                secret = read
            }
            self = .rolloutFound(rollout, secret: secret)
        case "report_found":
            switch json["report"] {
            case .null: self = .reportFound(nil)
            case let report?:
                guard let report = StoredReport(report) else { return nil }
                self = .reportFound(report)
            case nil: return nil
            }
        case "reports":
            let values = json["reports"]?.elements ?? []
            let reports = values.compactMap { StoredReport($0) }
            let next = json["next"]?.text.flatMap { Base64.decode($0) }
            guard reports.count == values.count, json["next"] == .null || next != nil else { return nil }
            self = .reports(reports, next: next)
        case "report_forgotten": self = .reportForgotten
        case "failed":
            guard let code = json["code"]?.text.flatMap(StoreFailure.Code.init) else { return nil }
            self = .failed(
                StoreFailure(
                    code, json["detail"]?.text, retryAfter: json["retry_after"]?.whole.map { Int(clamping: $0) }))
        default: return nil
        }
    }

    private static func json(_ finding: StoreFinding, rollout: RolloutFinding?) -> JSONText {
        guard let rollout, case .object(let members) = json(finding) else { return json(finding) }
        return .object(members + [("rollout", rollout.json)])
    }

    private static func json(_ finding: StoreFinding) -> JSONText {
        switch finding {
        case .missing: .object([("state", .string("missing"))])
        case .token(let token, let revision):
            token.withBytes { bytes in
                .object([
                    ("state", .string("held")), ("token", .string(String(decoding: bytes, as: UTF8.self))),
                    ("revision", .number(Int(revision))),
                ])
            }
        case .flawed(let flaw, let revision):
            .object([("state", .string(flaw.rawValue)), ("revision", .number(Int(revision)))])
        case .forbidden: .object([("state", .string("forbidden"))])
        }
    }

    private static func finding(_ json: JSONValue, _ sha256: ([UInt8]) -> [UInt8]) -> StoreFinding? {
        guard let state = json["state"]?.text else { return nil }
        switch state {
        case "missing": return .missing
        case "forbidden": return .forbidden
        case "held":
            guard let text = json["token"]?.text, let revision = json["revision"]?.whole else { return nil }
            return .token(Token(Array(text.utf8), sha256: sha256), revision: revision)
        default:
            guard let flaw = StoreFinding.Flaw(rawValue: state), let revision = json["revision"]?.whole else {
                return nil
            }
            return .flawed(flaw, revision: revision)
        }
    }
}

/// What the role reports without a question, on a line of its own between answers.
package enum StoreNotice: String, Hashable, Sendable, CaseIterable {
    /// All slots that were read last are watched: it is enough to read every ten minutes.
    case watching
    /// One of them may have changed: read again.
    case changed
    /// They are not watched any more: read each minute.
    case unwatched

    /// The line without its end.
    package var line: JSONText { .object([("notice", .string(rawValue))]) }

    /// Reads a ``line``; nil for anything else.
    package init?(line bytes: [UInt8]) {
        guard let text = (try? JSONValue(bytes, duplicates: .refused))?["notice"]?.text else { return nil }
        self.init(rawValue: text)
    }
}

/// Why the store was not read, or nothing was put.
package struct StoreFailure: Error, Hashable, Sendable {
    package let code: Code
    /// What etcd or the library for the network said, or which file it is about; on one line, and no password or token.
    package let detail: String?
    /// For how many seconds no request is sent to the store from now on; nil where there is no pause.
    package let retryAfter: Int?

    /// Raw values stand in JSON.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// There is no usable `store` section.
        case unconfigured = "store_unconfigured"
        /// A file with a certificate, its key or the password cannot be used.
        case fileUnusable = "store_file_unusable"
        /// etcd takes this machine's user or password no more, or wants one that is not configured.
        case credentialsRefused = "store_credentials_refused"
        /// etcd does not take this machine's client certificate.
        case certificateRefused = "store_certificate_refused"
        /// No configured authority has signed etcd's certificate for this address, or it has expired.
        case serverUntrusted = "store_server_untrusted"
        /// The role of this machine's user does not let it write there.
        case forbidden = "store_forbidden"
        /// etcd has reached its quota: it can be read, and takes nothing more.
        case outOfSpace = "store_out_of_space"
        case unreachable = "store_unreachable"
        case timedOut = "store_timed_out"
        /// It answers, and cannot serve: it has no leader, or is overloaded.
        case unavailable = "store_unavailable"
        /// What answers there is not etcd's gateway of version 3.
        case answerUnexpected = "store_answer_unexpected"
        /// The secret is too long for the store.
        case secretTooLong = "store_secret_too_long"
    }

    package init(_ code: Code, _ detail: String? = nil, retryAfter: Int? = nil) {
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter.map { min(max($0, 0), 86_400) }
    }

    /// The same, and how long to wait.
    func waiting(seconds: Int) -> StoreFailure { StoreFailure(code, detail, retryAfter: seconds) }

    /// The same for what the network could not do.
    init(_ failure: TransportFailure) {
        let code: Code =
            switch failure.kind {
            case .timedOut: .timedOut
            case .certificateRefused: .serverUntrusted
            case .caFileUnusable: .fileUnusable
            case .answerTooLong: .answerUnexpected
            case .tlsFailed, .connectionLost, .failed: Self.isAlert(failure.detail) ? .certificateRefused : .unreachable
            case .nameNotResolved, .notConnected, .proxyFailed: .unreachable
            }
        let detail = failure.kind == .answerTooLong ? "it is longer than 1 MiB" : failure.detail
        self.init(code, detail.isEmpty ? nil : detail)
    }

    /// Whether this text of OpenSSL's reports an alert about our certificate (RFC 8446, section 6.2), which the server
    /// sends. A fault of the server's own certificate is an error of verification instead.
    private static func isAlert(_ detail: String) -> Bool {
        let words = detail.lowercased()
        return words.contains("alert")
            && ["certificate", "unknown ca", "access denied"].contains { words.contains($0) }
    }
}
