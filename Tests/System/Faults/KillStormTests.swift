import Foundation
import TestSupport
import Testing

/// A thousand kills at random moments under readers' eyes: nobody ever sees anything but a whole secret of the client
/// that it is for, nothing stays behind, nobody is forgotten.
@Suite(.waits, .needs(.venv, .night)) struct KillStormTests {
    private static let kills = 1000
    private static let clients = 20

    @Test func killedAtAnyMomentLeavesWholeSecrets() throws {
        var random = SeededGenerator()
        print("the kill storm: CLIENTSECRETD_SEED=\(random.seed)")
        let seed: Comment = "seed \(random.seed)"
        let field = try KillStormFixture(clients: Self.clients)
        let sandbox = field.sandbox
        let readers = KillStormReaders(field)
        readers.begin()
        defer { readers.end() }
        var struck: [Strike: Int] = [:]
        var torn = 0
        // From the start to READY, in microseconds: kills are to fall into that time, however busy the machine is.
        var startTime = 30_000
        // As many more as it takes until the middle of a write was met often, however the kills fall on a busy machine.
        var round = 0
        while round < Self.kills || torn <= Self.kills / 20 {
            defer { round += 1 }
            let strike = Strike.allCases.randomElement(using: &random) ?? .start
            if strike == .firstStart { try readers.mayMiss { try field.wipe() } }
            if strike == .newKey { try field.changeKey() }
            let begin = DispatchTime.now().uptimeNanoseconds
            try sandbox.start(waiting: strike.isWhileRunning)
            if strike.isWhileRunning {
                startTime = (startTime * 7 + Int(DispatchTime.now().uptimeNanoseconds - begin) / 1000) / 8
                try readers.mustFind { try field.requireEveryFile() }
                switch strike {
                case .newKeyWhileRunning: try field.changeKey()
                default: try field.askForRenewal()
                }
            }
            usleep(UInt32(random.next() % UInt64(startTime * 5 / 4)))
            let process = try #require(sandbox.processID)
            let isAlive = kill(process, 0) == 0
            try #require(isAlive, "it died by itself in round \(round), \(seed), saying: \(sandbox.lastWords)")
            sandbox.stop(SIGKILL)
            struck[strike, default: 0] += 1
            if !sandbox.leftovers().isEmpty { torn += 1 }
            if round % 125 == 124 {
                try sandbox.start()
                try field.expectPeace(comment: "round \(round), \(seed)")
                sandbox.stop()
            }
        }
        #expect(Strike.allCases.allSatisfy { struck[$0, default: 0] > Self.kills / 10 }, seed)
        try sandbox.start()
        try field.expectPeace(comment: "at the end, \(seed)")
        readers.end()
        let seen = readers.findings()
        #expect(seen.bad == [], seed)
        #expect(seen.reads > 10 * Self.kills, seed)
        #expect(seen.tokens.count == Self.clients)
        #expect(seen.tokens.values.allSatisfy { $0.count > 50 }, "the storm published too little, \(seed)")
        try field.verify(seen.tokens)
        #expect(sandbox.stop() == 0)
        try field.expectNothingNewAfterARestart(comment: seed)
    }
}

/// In the middle of what the daemon is killed.
enum Strike: CaseIterable {
    /// There is nothing yet: every secret is minted and every file is made.
    case firstStart
    /// All is there and stays.
    case start
    /// A start at which every secret is replaced.
    case newKey
    /// A daemon that runs is asked for new secrets.
    case renewal
    /// A daemon that runs notices another key.
    case newKeyWhileRunning

    var isWhileRunning: Bool { self == .renewal || self == .newKeyWhileRunning }
}
