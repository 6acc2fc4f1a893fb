import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// When what was received is delivered.
struct DeliveryTurnTests {
    private let bench: Bench

    init() throws {
        bench = try Bench(try Self.configuration())
    }

    /// Clients that receive their secrets, and share an action.
    private static func configuration(
        _ names: [String] = ["web"], deliverOver: Int64 = 1000
    ) throws -> Configuration {
        var clients: [String: ClientConfiguration] = [:]
        for name in names {
            var source = SourceConfiguration(path: try Values.path("/in/\(name).jwt"), format: .raw)
            source.deliverOver = Seconds(deliverOver)
            clients[name] = try Values.receiver(source, name: name)
        }
        return try Values.configuration(clients, keys: Values.publicKeys())
    }

    /// Has something else renew a client's source, and waits until it was read.
    ///
    /// - Parameter ahead: by how much the clock is ahead that issues the secret.
    @discardableResult private func offer(
        _ number: UInt64, to name: String = "web", expires: Int64 = 90 * Values.day, ahead: Int64 = 0
    ) throws -> SecretInfo {
        let issued = try Values.issued(
            number, id: "com.example.\(name)", from: ahead - 60 + Int64(number), to: ahead + expires,
            signer: Values.print("1"))
        bench.sources[try Values.name(name)] = .secret(issued)
        bench.tell(.changeNoticed(.source(try Values.name(name))))
        bench.pass(3)
        return issued
    }

    /// Begins with a secret in force, and a newer one whose turn is to come.
    private func beginWaiting() throws {
        try offer(1)
        bench.go()
        bench.forget()
        try offer(2)
    }

    @Test func itIsPublishedAtOnceAndDeliveredInItsTurn() throws {
        try offer(1)
        bench.go()
        #expect(bench.runs == ["exec /bin/tell for web"], "an application without a secret waited")
        bench.forget()
        let second = try offer(2)
        #expect(try bench.held(in: "web.jwt") == second)
        #expect(bench.runs.isEmpty)
        let view = try bench.view("web")
        #expect(view.health == .ok)
        #expect(!view.delivered)
        #expect(view.actions.map(\.state) == [.pending])
        #expect(view.actions.map(\.waitsFor) == [.turn])
        bench.pass(1000)
        #expect(bench.runs == ["exec /bin/tell for web"])
        #expect(try bench.view("web").delivered)
        #expect(try bench.view("web").actions.map(\.waitsFor) == [nil])
    }

    @Test func turnsAreSpreadEvenly() throws {
        try offer(1)
        var delays: [Int64] = []
        for number in 2..<102 {
            bench.forget()
            try offer(UInt64(number))
            var delay: Int64 = 0
            while bench.runs.isEmpty, delay <= 1000 {
                bench.pass(10)
                delay += 10
            }
            delays.append(delay)
        }
        #expect(delays.allSatisfy { $0 <= 1000 })
        for tenth in 0..<5 {
            let count = delays.count { $0 / 200 == Int64(tenth) }
            #expect((8...40).contains(count), "\(count) of 100 in fifth \(tenth)")
        }
    }

    @Test func ofSeveralClientsTheFirstTurnCounts() throws {
        bench.reload(try Self.configuration(["native", "web"]))
        for name in ["native", "web"] { try offer(1, to: name) }
        bench.pass(1000)
        bench.forget()
        for name in ["native", "web"] { try offer(2, to: name) }
        bench.pass(1000)
        #expect(bench.runs == ["exec /bin/tell for native, web"])
    }

    @Test func aRequestWaitsForNoTurn() throws {
        try beginWaiting()
        try bench.renew()
        bench.pass(3)
        #expect(bench.runs.count == 1)
        #expect(try bench.answer { if case .renewed(let outcomes) = $0 { outcomes.count } else { nil } } == 1)
    }

    /// The request still waits for another client's hook.
    @Test func aSecretReceivedAfterTheOutcomeOfARequestWaits() throws {
        var configuration = try Self.configuration(["web", "api"])
        let slow = Values.exec("/bin/slow")
        configuration.clients[try Values.name("api")]?.onChange = [slow]
        bench.reload(configuration)
        for name in ["web", "api"] { try offer(1, to: name) }
        bench.go()
        try offer(2, to: "api")
        bench.held = [.action(slow.id)]
        bench.ask(.renew(.init()), 2)
        bench.forget()
        try offer(2)
        #expect(bench.answer(2) == nil)
        #expect(bench.runs.isEmpty)
        bench.pass(1000)
        #expect(bench.runs == ["exec /bin/tell for web"])
    }

    @Test func aSecretReceivedForARequestDoesNotWait() throws {
        try beginWaiting()
        let web = try Values.name("web")
        bench.held = [.source(web)]
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])))
        bench.sources[web] = .secret(try Values.issued(3, from: -50, to: 90 * Values.day, signer: Values.print("1")))
        bench.release(.source(web))
        bench.pass(3)
        #expect(bench.runs.count == 1)
    }

    @Test func aClientWithACriticalSecretDoesNotWait() throws {
        try offer(1, expires: 90 * Values.day)
        bench.sleep(90 * Values.day - 600)
        #expect(try bench.view("web").health == .critical)
        bench.forget()
        try offer(2, expires: 180 * Values.day)
        #expect(bench.runs.count == 1)
    }

    /// The clocks were ahead when the last secret was issued and delivered, and were set right. Apple refuses that one.
    @Test(arguments: [false, true]) func aClientWithASecretOfTheFutureDoesNotWait(isFailing: Bool) throws {
        let action = Values.exec("/bin/tell")
        try offer(1)
        bench.step(20 * Values.day)
        let ahead = try offer(2, ahead: 20 * Values.day)
        bench.pass(1000)
        #expect(try bench.rotation.delivered(to: Values.name("web")) == [action.id: ahead])
        #expect(try bench.view("web").health == .ok)
        bench.step(-20 * Values.day)
        bench.forget()
        if isFailing { bench.failures[.action(action.id)] = Failure(.actionFailed, at: .action(action.id)) }
        let right = try offer(3)
        #expect(try bench.held(in: "web.jwt") == right)
        #expect(bench.runs.count == 1)
        #expect(try bench.view("web").health == (isFailing ? .critical : .ok))
        #expect(try bench.view("web").delivered == !isFailing)
    }

    @Test func waitingEndsWhereTheSecretBecomesCritical() throws {
        bench.reload(try Self.configuration(deliverOver: 86_400))
        let first = try offer(1, expires: 90 * Values.day)
        let critical = 90 * Values.day - 10 * Values.day
        bench.sleep(critical - 60)
        bench.forget()
        try offer(2, expires: 180 * Values.day)
        #expect(bench.runs.isEmpty)
        bench.pass(120)
        #expect(bench.runs.count == 1, "\(first.expiresAt)")
    }

    /// A package's upgrade restarts the daemon on all machines.
    @Test func aRestartKeepsATurn() throws {
        let web = try Values.name("web")
        try beginWaiting()
        let kept = try #require(bench.records[web]?.turn)
        let turn = kept - bench.now.wall
        try #require((100...1000).contains(turn.count), "take another number for the secret")
        bench.pass(30)
        try bench.restart(try Self.configuration())
        #expect(bench.entries.contains(.ready))
        #expect(try bench.view("web").health == .ok)
        #expect(bench.runs == [])
        bench.pass(turn.count - 30 - 10)
        #expect(bench.runs == [])
        #expect(bench.records[web]?.turn == kept, "it was drawn again")
        bench.pass(10)
        #expect(bench.runs == ["exec /bin/tell for web"])
        #expect(bench.records[web]?.turn == nil)
        #expect(try bench.view("web").delivered)
    }

    /// The state directory answers late: by then a newer secret is there, which was received before READY.
    @Test func aLateRecordBringsNoTurnOfAnEarlierSecretBack() throws {
        let web = try Values.name("web")
        try beginWaiting()
        try #require(bench.records[web]?.turn != nil)
        bench.held = [.record(web)]
        bench.sources[web] = .secret(
            try Values.issued(3, id: "com.example.web", from: -57, to: 90 * Values.day, signer: Values.print("1")))
        try bench.restart(try Self.configuration())
        bench.pass(40)
        bench.release(.record(web))
        #expect(bench.runs == ["exec /bin/tell for web"])
        #expect(bench.rotation.clients.all.map(\.turn) == [nil])
    }

    @Test func aTurnThatHasPassedMeanwhileIsOver() throws {
        try beginWaiting()
        bench.boot(after: 1)
        let records = bench.records
        bench.sleep(2000)
        bench.records = records
        try bench.restart(try Self.configuration())
        #expect(bench.runs == ["exec /bin/tell for web"])
    }

    /// The clock was set back by years while no daemon ran.
    @Test func aKeptTurnLastsNoLongerThanTheConfigurationAllows() throws {
        let web = try Values.name("web")
        try beginWaiting()
        bench.records[web]?.turn = bench.now.wall + Seconds(90 * Values.day)
        try bench.restart(try Self.configuration(deliverOver: 50))
        bench.pass(40)
        #expect(bench.runs == [])
        bench.pass(10)
        #expect(bench.runs == ["exec /bin/tell for web"])
    }

    /// `run --once` ends when everything is delivered.
    @Test func onceWaitsForNoTurn() throws {
        try beginWaiting()
        let once = try Bench(try Self.configuration(), once: true)
        (once.records, once.sources, once.disk) = (bench.records, bench.sources, bench.disk)
        once.pass(bench.now.boot.seconds(since: once.now.boot).count)
        once.go()
        #expect(once.runs == ["exec /bin/tell for web"])
        #expect(once.lastStep.ended)
    }

    @Test func aReloadWithAnotherTimeEndsTheWaiting() throws {
        try beginWaiting()
        bench.reload(try Self.configuration(deliverOver: 0))
        bench.pass(3)
        #expect(bench.runs.count == 1)
    }
}
