import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// The worst of what a client's outputs, APIs and applications hold: all that health is judged by.
@Suite struct ClientFactsTests {
    private func secret(days: Int64) throws -> SecretInfo {
        try Values.issued(UInt64(days), to: days * Values.day, signer: Values.print("1"))
    }

    /// What reading a file finds: a secret for so many days, nothing (-), no secret (x), a directory (d), or that this user
    /// may not read it (u); nil where it was not read (?).
    private func found(_ sign: String, _ path: AbsolutePath) throws -> Result<FileObservation, Failure>? {
        switch sign {
        case "?": nil
        case "-": .success(FileObservation(slots: [:]))
        case "x": .success(FileObservation(slots: [.whole: .foreign]))
        case "d": .failure(Failure(.notARegularFile, at: .path(path)))
        case "u": .failure(Failure(.notReadable, at: .path(path)))
        default: .success(FileObservation(slots: [.whole: .secret(try secret(days: try #require(Int64(sign))))]))
        }
    }

    struct Row: Sendable {
        /// Of the files 0, 1 and so on.
        var outputs: [String]
        var isUnderWay = false
        /// In days; nil where it is not known.
        var pushed: [Int64?] = []
        var hasEmptyPlace = false
        var delivered: [Int64] = []
        /// Those that Apple refuses.
        var refused: [Int64] = []
        var worst: String
    }

    @Test(arguments: [
        Row(outputs: ["90", "50"], worst: "50"), Row(outputs: ["?", "50"], worst: "50"),
        Row(outputs: ["?", "u"], worst: "unknown"), Row(outputs: ["50", "u"], worst: "50"),
        Row(outputs: ["50", "d"], worst: "locked out of 1"), Row(outputs: ["-", "50"], worst: "locked out of 0"),
        Row(outputs: ["-", "50"], isUnderWay: true, worst: "50"),
        Row(outputs: ["-", "?"], isUnderWay: true, worst: "unknown"),
        Row(outputs: ["50", "x"], isUnderWay: true, worst: "locked out of 1"),
        Row(outputs: ["50"], pushed: [40, nil], worst: "40"), Row(outputs: [], pushed: [nil], worst: "unknown"),
        Row(outputs: ["50"], pushed: [40], delivered: [30, 60], worst: "30"),
        Row(outputs: ["50"], pushed: [nil], hasEmptyPlace: true, worst: "empty"),
        Row(outputs: ["50"], pushed: [40], delivered: [30, 60], refused: [60], worst: "refused 60"),
        Row(outputs: ["50"], pushed: [nil, 40], delivered: [30], refused: [40, 30], worst: "refused 40"),
        Row(outputs: ["x"], delivered: [30], refused: [30], worst: "locked out of 0"),
        Row(outputs: ["x"], delivered: [30], worst: "locked out of 0"), Row(outputs: [], worst: "nowhere"),
    ])
    func theWorstOfAllPlacesCounts(row: Row) throws {
        let names = row.outputs.indices.map { "/out/\($0)" }
        var facts = ClientFacts(
            name: try Values.name("web"),
            entry: try Values.client("web", outputs: try names.map { try Values.raw($0) }),
            keys: [], current: nil, clock: ClockTrust(), builtAt: Values.moment(0), isUnderWay: row.isUnderWay)
        var read: [AbsolutePath: Result<FileObservation, Failure>] = [:]
        for (name, sign) in zip(names, row.outputs) { read[try Values.path(name)] = try found(sign, Values.path(name)) }
        facts.findOutputs(reading: { read[$0]?.map(\.slots) }, refusal: { _ in nil })
        facts.pushed = try row.pushed.map { try $0.map { try secret(days: $0) } }
        facts.emptyPlaces = row.hasEmptyPlace ? [try #require(TargetName("production"))] : []
        facts.delivered = try row.delivered.map { try secret(days: $0) }
        let refused = try row.refused.map { try secret(days: $0) }
        facts.findRefused { secret in
            refused.contains(secret) ? Objection.issuedAhead(secret.issuedAt) : Objection.expired(secret.expiresAt)
        }
        func days(_ secret: SecretInfo) -> String { "\((secret.expiresAt - Values.moment(0)).count / Values.day)" }
        let worst =
            switch facts.weakest {
            case .lockedOut(let path, _): "locked out of \(path.description.suffix(1))"
            case .held(let secret): days(secret)
            case .refused(let secret, _): "refused \(days(secret))"
            case .unknown: "unknown"
            case .empty: "empty"
            case .nowhere: "nowhere"
            }
        #expect(worst == row.worst, "\(row.outputs)")
    }
}
