import AppleClientSecret
import Failures
import Rotation
import TestSupport

/// The life of a client that receives its secrets, at random from a seed: its source is renewed, forged, put back, emptied
/// and lost, and its daemon killed in between. The core is the real one.
package final class FollowerLife {
    /// What is promised of it.
    package enum Promise: String, Sendable, CaseIterable {
        /// No output ever holds what no configured key has signed.
        case genuine
        /// Within one key the secret never goes back.
        case forward
        /// The source never empties or removes an output.
        case kept
        /// What the signer has just minted is published.
        case fresh
        /// Health is what an observer would say who sees everything.
        case honest
        /// A client that follows never mints.
        case following
    }

    /// Mistakes planted between the core and its surroundings, each of which must be noticed.
    package enum Mistake: Sendable, CaseIterable {
        /// A forged secret counts as signed by a configured key.
        case believesForgedSecrets
        /// The core does not hear that the source has changed.
        case losesNotices
        /// A secret that is put back counts as issued now.
        case believesOldOnesNew
        /// An empty source empties the output.
        case copiesAbsence
        /// A wrong source counts as missing.
        case hidesWrongSources

        package var breaks: Promise {
            switch self {
            case .believesForgedSecrets: .genuine
            case .losesNotices: .fresh
            case .believesOldOnesNew: .forward
            case .copiesAbsence: .kept
            case .hidesWrongSources: .honest
            }
        }
    }

    package struct Violation: Error, CustomStringConvertible {
        package let promise: Promise
        package let description: String
    }

    private static let day: Int64 = 86_400
    private let mistake: Mistake?
    private var random: SeededGenerator
    private var rotation: Rotation
    private let configuration: Configuration
    private let client = sure(ClientName("web"))
    private let path = sure(AbsolutePath("/run/clientsecretd/out/web.jwt"))
    private let keys = [sure(KeyName("new")), sure(KeyName("old"))]
    private var wall: Int64 = 1_800_000_000
    private var boot: Int64 = 1_000_000

    /// What the signer has minted, the latest last.
    private var minted: [SecretInfo] = []
    /// Which of the keys the signer has.
    private var signer = 1
    private var source = SourceObservation.missing
    private var isUnreadable = false
    private var record = Record()
    private var told = ReportedStates()
    private var output: SecretInfo?
    /// The last secret of each key that was published.
    private var latest: [KeyID: SecretInfo] = [:]

    package init(seed: UInt64, mistake: Mistake? = nil) {
        self.mistake = mistake
        random = SeededGenerator(seed: seed)
        let ids = ["HIJ456KLMN", "ABC123DEFG"]
        let entries = ids.map {
            KeyConfiguration(team: sure(TeamID("DEF123GHIJ")), keyID: sure(KeyID($0)), location: .publicKey([]))
        }
        let entry = ClientConfiguration(
            clientID: sure(ClientID("com.example.web")), key: keys[0], lifetime: .maximum, renewBefore: 1,
            outputs: [Output(path: path, format: .raw)],
            source: SourceConfiguration(path: sure(AbsolutePath("/in/web.jwt")), format: .raw), otherKeys: [keys[1]])
        configuration = Configuration(
            keys: Dictionary(uniqueKeysWithValues: zip(keys, entries)), clients: [client: entry])
        rotation = Self.start(wall)
        rotation.handle(.configured(configuration), at: now)
    }

    private static func start(_ wall: Int64) -> Rotation {
        Rotation(
            seed: 1, hostJitter: 0, builtAt: WallTime(secondsSinceEpoch: 0),
            startedAt: WallTime(secondsSinceEpoch: wall), configurationPath: "/c.yaml")
    }

    private var now: Now {
        Now(wall: WallTime(secondsSinceEpoch: wall), boot: BootTime(milliseconds: boot), kernelSynced: true)
    }

    /// Lives through this many strikes, some days apart.
    package func live(strikes: Int = 150) throws {
        try offer(.secret(mint()))
        for _ in 0..<strikes {
            try strike()
            try pass(Int64.random(in: 10...20 * Self.day, using: &random))
        }
    }

    private func strike() throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2:
            let secret = mint()
            try offer(.secret(secret))
            guard output == secret else { throw broken(.fresh, "\(secret.fingerprint) is not published") }
        case 3: try offer(.secret(secret(signedBy: nil)))
        case 4: try offer(.secret(secret(signedBy: signer, issued: wall + 7200)))
        case 5, 6: try offer(.secret(minted.randomElement(using: &random) ?? mint()))
        case 7: try offer(.foreign("it is no client secret"))
        case 8: try offer(.missing)
        case 9:
            isUnreadable = true
            try offer(source)
        case 10:
            if Bool.random(using: &random) { record = Record() }
            rotation = Self.start(wall)
            rotation.handle(.configured(configuration), at: now)
            try settle()
        default:
            // The new key comes once, in the middle of a life.
            if minted.count > 15 { signer = 0 }
        }
    }

    private func secret(signedBy key: Int?, issued: Int64? = nil) -> SecretInfo {
        let entry = sure(configuration.keys[keys[key ?? signer]])
        let iat = issued ?? wall - 60
        return SecretInfo(
            fingerprint: Fingerprint(leadingBytes: random.next()),
            claims: Claims(
                issuer: entry.team, keyID: entry.keyID, subject: sure(ClientID("com.example.web")),
                issuedAt: WallTime(secondsSinceEpoch: iat),
                expiresAt: WallTime(secondsSinceEpoch: iat + 60 + 90 * Self.day)),
            signer: key.map(print))
    }

    private func print(_ key: Int) -> KeyDigest { sure(KeyDigest(String(repeating: "\(key + 1)", count: 64))) }

    private func mint() -> SecretInfo {
        let made = secret(signedBy: signer)
        minted.append(made)
        return made
    }

    private func offer(_ observation: SourceObservation) throws {
        if observation != source { isUnreadable = false }
        source = observation
        if mistake != .losesNotices { rotation.handle(.changeNoticed(.source(client)), at: now) }
        if mistake == .copiesAbsence, observation == .missing { output = nil }
        try pass(5)
    }

    /// Lets time pass, with a plan at every wake.
    private func pass(_ seconds: Int64) throws {
        let end = boot + seconds * 1000
        while true {
            let wake = try settle()
            let moments = [wake.boot?.milliseconds, wake.wall.map { boot + ($0.secondsSinceEpoch - wall) * 1000 }]
            let next = max(moments.compactMap { $0 }.min() ?? .max, boot + 1)
            let reached = min(next, end)
            wall += reached / 1000 - boot / 1000
            boot = reached
            if next > end { break }
        }
        try settle()
        try check()
    }

    @discardableResult private func settle() throws -> Wake {
        while true {
            let step = rotation.plan(at: now)
            if let flaw = rotation.checkInvariants().first { throw broken(.honest, flaw) }
            if step.start.isEmpty { return step.wake }
            for job in step.start { rotation.handle(.finished(job.id, try carryOut(job)), at: now) }
        }
    }

    private func carryOut(_ job: Job) throws -> Result<Outcome, Failure> {
        switch job.work {
        case .readKey(let name, _): return .success(.key(print(name == keys[0] ? 0 : 1)))
        case .readSource:
            if isUnreadable { return .failure(Failure(.sourceUnreadable, at: .client(client))) }
            return .success(.source(twisted(source)))
        case .recall: return .success(.recalled(record))
        case .keep(_, let record):
            self.record = record
            return .success(.kept(record))
        case .observe: return .success(.observed(observation))
        case .publish(_, let secrets, _):
            guard let secret = secrets[.whole] else { throw broken(.kept, "nothing is published") }
            output = minted.first { $0.fingerprint == secret.fingerprint } ?? secret
            try published()
            return .success(.published(observation))
        case .recallReportedStates: return .success(.recalledReportedStates(told))
        case .keepReportedStates(let told):
            self.told = told
            return .success(.keptReportedStates(told))
        case .tidyRecords: return .success(.tidied([]))
        case .mint: throw broken(.following, "a secret is minted")
        case .readConfiguration, .checkConfiguration, .run, .probe: return .success(.ran)
        }
    }

    private var observation: FileObservation {
        FileObservation(slots: output.map { [.whole: .secret($0)] } ?? [:], exists: output != nil)
    }

    private func twisted(_ observation: SourceObservation) -> SourceObservation {
        guard let mistake else { return observation }
        switch (mistake, observation) {
        case (.believesForgedSecrets, .secret(let issued)) where issued.signer == nil:
            return .secret(
                SecretInfo(fingerprint: issued.fingerprint, claims: issued.claims, signer: print(signer)))
        case (.believesOldOnesNew, .secret(let issued)) where issued != minted.last && issued.signer != nil:
            let claims = Claims(
                issuer: issued.team, keyID: issued.keyID, subject: issued.client,
                issuedAt: WallTime(secondsSinceEpoch: wall - 60), expiresAt: issued.expiresAt)
            return .secret(SecretInfo(fingerprint: issued.fingerprint, claims: claims, signer: issued.signer))
        case (.hidesWrongSources, .foreign): return .missing
        default: return observation
        }
    }

    // MARK: What is promised

    private func broken(_ promise: Promise, _ text: String) -> Violation {
        Violation(promise: promise, description: "\(promise): \(text), at \(now.wall)")
    }

    private func published() throws {
        guard let output else { return }
        guard minted.contains(output) else { throw broken(.genuine, "\(output.fingerprint) is published") }
        if let before = latest[output.keyID], before != output, before.issuedAt >= output.issuedAt {
            throw broken(.forward, "\(output.fingerprint) replaces a later one")
        }
        latest[output.keyID] = output
    }

    private func check() throws {
        guard let output else { throw broken(.kept, "the output holds nothing") }
        guard let view = rotation.snapshot(at: now).clients.first else { throw broken(.honest, "there is no client") }
        let left = output.expiresAt.secondsSinceEpoch - wall
        let health: HealthState =
            left <= 10 * Self.day ? .critical : left <= 30 * Self.day || isWrong ? .degraded : .ok
        guard view.health == health else {
            throw broken(.honest, "it is \(view.health) and should be \(health): \(String(describing: view.source))")
        }
    }

    private var isWrong: Bool {
        if isUnreadable { return false }
        switch source {
        case .foreign: return true
        case .missing: return false
        case .secret(let issued): return issued.signer == nil || issued.issuedAt.secondsSinceEpoch > wall + 60
        }
    }
}
