package import AppleClientSecret
package import Failures

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
    /// A page of the machines' reports, ``mostReports`` at most, and where the next one begins; nil for the last one.
    case reports([StoredReport], next: [UInt8]?)
    /// The report is gone, or was changed at another revision.
    case reportForgotten
    case failed(RoleFailure)

    /// Of one page: most have some hundred bytes, and 1 MiB is taken of etcd's answer.
    package static let mostReports = 256

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
    init?(_ json: JSONValue, sha256: ([UInt8]) -> [UInt8]) {
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
            guard reports.count == values.count, values.count <= Self.mostReports, json["next"] == .null || next != nil
            else { return nil }
            self = .reports(reports, next: next)
        case "report_forgotten": self = .reportForgotten
        case "failed":
            guard let code = json["code"]?.text.flatMap(FailureCode.init), code.rawValue.hasPrefix("store_") else {
                return nil
            }
            self = .failed(
                RoleFailure(
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
