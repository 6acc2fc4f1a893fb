import AppleClientSecret
import Failures
import Testing

@testable import Model
@testable import Rotation

/// When a machine that receives its secrets from the store delivers them.
struct OwnAdmissionsTests {
    private let bench: Bench
    private let place = Values.place()
    private let web: ClientName

    init() throws {
        web = try Values.name("web")
        bench = try Bench(try Self.configuration())
    }

    private static func configuration(deliverOver: Int64 = 0, store: String = "etcd") throws -> Configuration {
        var source = SourceConfiguration(.store)
        source.deliverOver = Seconds(deliverOver)
        return try Values.configuration(
            ["web": Values.receiver(source)], keys: Values.publicKeys(),
            store: SecretStore(place: store, machine: "app17"))
    }

    private func secret(_ number: UInt64, days: Int64 = 90) throws -> SecretInfo {
        let now = bench.now.wall.secondsSinceEpoch - Values.start
        return try Values.issued(
            number, from: now - 60 + Int64(number), to: now + days * Values.day, signer: Values.print("1"))
    }

    private var revision: Int64 = 100

    /// Puts a secret there as a signer does, with a rollout that admits so many ranks more or fewer than this machine's.
    @discardableResult private mutating func offer(
        _ number: UInt64, admitting difference: Int64?, _ state: Rollout.State = .going, days: Int64 = 90
    ) throws -> SecretInfo {
        let secret = try secret(number, days: days)
        revision += 1
        bench.store[place] = .secret(secret, revision: revision)
        bench.rollouts[place] = nil
        if let difference { admit(secret.fingerprint, difference, state) }
        bench.pass(61)
        return secret
    }

    private mutating func admit(_ fingerprint: Fingerprint, _ difference: Int64, _ state: Rollout.State = .going) {
        revision += 1
        let rank = RolloutRank.of("app17", fingerprint)
        bench.rollouts[place] = .rollout(
            Rollout(
                of: SecretName(fingerprint),
                admitted: difference < 0 ? rank - UInt64(-difference) : rank + UInt64(difference), state: state),
            revision: revision)
    }

    private var runs: Int { bench.runs.count }

    /// The first secret, which waits for nobody.
    private mutating func begin() throws {
        bench.go()
        try offer(1, admitting: nil)
        #expect(runs == 1, "an application without a secret waited")
        bench.forget()
    }

    /// An older one, of a restored backup.
    @Test mutating func anotherSecretInItsPlaceHoldsNoDeliveryBackWithoutARollout() throws {
        try bench.reload(Self.configuration(deliverOver: 3600))
        try begin()
        let first = try #require(try bench.held(in: "web.jwt"))
        let second = try offer(2, admitting: nil)
        #expect(runs == 0)
        revision += 1
        bench.store[place] = .secret(first, revision: revision)
        bench.pass(3700)
        #expect(try bench.held(in: "web.jwt") == second)
        #expect(runs == 1)
    }

    /// A rollout that is held: who was admitted before may deliver.
    @Test(arguments: [Rollout.State.going, .held])
    mutating func itIsPublishedAtOnceAndDeliveredOnceAdmitted(state: Rollout.State) throws {
        try begin()
        let second = try offer(2, admitting: -1, state)
        #expect(try bench.held(in: "web.jwt") == second)
        #expect(try bench.view("web").health == .ok)
        #expect(try bench.view("web").actions.map(\.waitsFor) == [.rollout])
        bench.pass(86_400)
        #expect(runs == 0)
        let view = try bench.view("web")
        #expect(view.health == .ok)
        #expect(!view.delivered)
        admit(second.fingerprint, 0, state)
        bench.pass(61)
        #expect(runs == 1)
        #expect(try bench.view("web").delivered)
    }

    /// It cannot wait, and has to say why it leaves them undone.
    @Test(arguments: [Rollout.State.going, .held])
    mutating func aSingleRunKnowsTheRolloutThatItsActionsWaitFor(state: Rollout.State) throws {
        try begin()
        let held = try #require(try bench.held(in: "web.jwt"))
        let second = try offer(2, admitting: -1, state)
        #expect(bench.rotation.snapshot(at: bench.now).awaitedRollouts.isEmpty, "a daemon waits")
        try bench.restart(Self.configuration(), once: true)
        bench.pass(61)
        #expect(runs == 0)
        let view = try bench.view("web")
        #expect(view.health == .ok && !view.delivered)
        #expect(view.actions.map(\.waitsFor) == [.rollout])
        let awaited = try #require(bench.rotation.snapshot(at: bench.now).awaitedRollouts[web])
        #expect(awaited.isHeld == (state == .held))
        // Half of its 30 days, spread over a twentieth of them.
        let first = held.expiresAt - Seconds(15 * Values.day)
        let last = first + Seconds(36 * 3600)
        #expect((first...last).contains(awaited.deadline))
        admit(second.fingerprint, 0, state)
        try bench.restart(Self.configuration(), once: true)
        bench.pass(61)
        #expect(runs == 1)
        #expect(bench.rotation.snapshot(at: bench.now).awaitedRollouts.isEmpty)
    }

    @Test mutating func anActionThatAReloadAddsWaitsLikeTheOthers() throws {
        try begin()
        let second = try offer(2, admitting: -1, .held)
        var configuration = try Self.configuration()
        configuration.clients[web]?.onChange.append(Values.exec("/bin/added"))
        bench.reload(configuration)
        bench.pass(3600)
        #expect(runs == 0)
        admit(second.fingerprint, 0)
        bench.pass(61)
        #expect(runs == 2)
    }

    @Test mutating func aRolloutThatIsGoneOrAnothersOrUnreadableAdmitsNoMachine() throws {
        try begin()
        try offer(2, admitting: -1)
        bench.rollouts[place] = nil
        bench.pass(61)
        #expect(runs == 0, "gone")
        admit(Fingerprint(leadingBytes: 77), 0)
        bench.rollouts[place] = .rollout(.finished(SecretName(Fingerprint(leadingBytes: 77))), revision: 900)
        bench.pass(61)
        #expect(runs == 0, "another's")
        bench.rollouts[place] = .foreign(revision: 901)
        bench.pass(61)
        #expect(runs == 0, "unreadable")
        try offer(3, admitting: nil)
        #expect(runs == 0, "gone with the next secret")
    }

    @Test mutating func aRequestWaitsForNoAdmission() throws {
        try begin()
        try offer(2, admitting: -1)
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])))
        bench.pass(3)
        #expect(runs == 1)
    }

    /// It is printed for what has failed, and is no order to act before the others.
    @Test(arguments: [true, false]) mutating func aRequestToDeliverRepeatsNothingThatWaits(isNamed: Bool) throws {
        try begin()
        let second = try offer(2, admitting: -1, .held)
        bench.ask(.renew(DaemonRequest.Renewal(clients: isNamed ? [web] : [], deliverOnly: true)))
        #expect(bench.answer() == .renewed([try bench.untouched("web")]))
        // Something is left to write, and nothing else.
        let path = try Values.path("web.jwt")
        bench.failingWrites[path] = Failure(.ioError, at: .path(path))
        let third = try offer(3, admitting: -1, .held)
        bench.failingWrites = [:]
        bench.ask(.renew(DaemonRequest.Renewal(clients: isNamed ? [web] : [], deliverOnly: true)), 2)
        #expect(try bench.held(in: "web.jwt") == third)
        #expect(bench.answer(2) == .renewed([try bench.untouched("web")]))
        bench.pass(3600)
        #expect(runs == 0 && third != second)
        #expect(try bench.view("web").actions.map(\.waitsFor) == [.rollout])
        bench.ask(.renew(DaemonRequest.Renewal(clients: [web])), 3)
        bench.pass(3)
        #expect(runs == 1)
    }

    @Test mutating func halfOfRenewBeforeAheadOfTheEndEverybodyDeliversByRank() throws {
        try begin()
        let held = try #require(bench.rotation.delivered(to: web).values.first)
        let second = try offer(2, admitting: -1, .held, days: 180)
        // A third of 90 days is renew_before, so 15 days are half of it, and 1.5 days a twentieth.
        let deadline = held.expiresAt.secondsSinceEpoch - 15 * Values.day
        let turn = Int64(Double(RolloutRank.of("app17", second.fingerprint)) / 0x1p64 * 1.5 * Double(Values.day))
        bench.sleep(deadline + turn - bench.now.wall.secondsSinceEpoch - 300)
        #expect(runs == 0)
        bench.pass(600)
        #expect(runs == 1)
    }

    /// After an outage of the signer, which ended later than that.
    @Test mutating func aSecretIssuedAfterTheDeadlineIsSpreadAsWell() throws {
        try begin()
        bench.sleep(77 * Values.day)
        let second = try offer(2, admitting: -1)
        let turn = Int64(Double(RolloutRank.of("app17", second.fingerprint)) / 0x1p64 * 1.5 * Double(Values.day))
        try #require(turn > 1200)
        bench.pass(turn - 900)
        #expect(runs == 0)
        bench.pass(1200)
        #expect(runs == 1)
    }

    @Test mutating func aRestartDeliversNothingBeforeTheStoreWasRead() throws {
        try begin()
        let second = try offer(2, admitting: -1)
        bench.failures[.store] = Failure(.storeUnreachable, at: .store)
        try bench.restart(Self.configuration())
        bench.pass(3600)
        #expect(runs == 0)
        #expect(try bench.current("web") == second)
        #expect(!(try bench.view("web").delivered))
        bench.failures = [:]
        bench.pass(600)
        #expect(runs == 0)
        admit(second.fingerprint, 0)
        bench.pass(61)
        #expect(runs == 1)
    }

    /// The daemon ends after it has kept the new secret, and before that is in the output.
    @Test(arguments: [1, 2]) mutating func aRestartWithinARenewalReleasesNoMachine(renewals: UInt64) throws {
        try begin()
        let path = try Values.path("web.jwt")
        // Of two, the first is published and waits.
        if renewals == 2 { try offer(2, admitting: -1) }
        bench.failingWrites[path] = Failure(.ioError, at: .path(path))
        let last = try offer(1 + renewals, admitting: -1)
        bench.failingWrites = [:]
        try bench.restart(Self.configuration())
        bench.pass(61)
        #expect(try bench.view("web").outputs.first?.state == .ok)
        #expect(try bench.current("web") == last)
        #expect(runs == 0)
        admit(last.fingerprint, 0)
        bench.pass(61)
        #expect(runs == 1)
    }

    /// Applications may have read something else than a secret while no daemon ran.
    @Test mutating func anApplicationThatMayHoldNoSecretDoesNotWait() throws {
        try begin()
        let path = try Values.path("web.jwt")
        try offer(2, admitting: -1)
        bench.disk[path]?.slots[.whole] = .foreign
        try bench.restart(Self.configuration())
        bench.pass(61)
        #expect(runs == 1)
    }

    /// The application may still hold the first secret, and nothing shows when that expires.
    @Test mutating func aMachineThatLostItsStateDirectoryDoesNotWait() throws {
        try begin()
        let second = try offer(2, admitting: -1, .held)
        #expect(runs == 0)
        bench.records = [:]
        try bench.restart(Self.configuration())
        bench.pass(61)
        #expect(try bench.current("web") == second)
        #expect(runs == 1)
        #expect(try bench.view("web").delivered)
        // Once, and the next secret waits again.
        try bench.restart(Self.configuration())
        try offer(3, admitting: -1, .held)
        bench.pass(3600)
        #expect(runs == 0)
    }

    /// The daemon was killed before the action had run.
    @Test mutating func aSecretThatWasOnlyFoundInAnOutputDoesNotCountAsDeliveredAfterARestart() throws {
        try begin()
        let second = try offer(2, admitting: -1, .held)
        bench.records = [web: Record(current: second)]
        bench.records[web]?.delivered = [.unknown: second]
        try bench.restart(Self.configuration())
        bench.pass(61)
        #expect(runs == 1)
        #expect(bench.records[web]?.delivered == [Values.exec("/bin/tell").id: second])
    }

    /// The other store was configured while no daemon ran. No rollout was ever seen in it.
    @Test mutating func aRolloutInAnotherStoreHoldsNothingBackAfterARestart() throws {
        try begin()
        try offer(2, admitting: 1)
        #expect(bench.records[web]?.wasRolledOut == true)
        bench.store = [:]
        bench.rollouts = [:]
        try bench.restart(Self.configuration(store: "another etcd"))
        try offer(3, admitting: nil)
        bench.pass(1)
        #expect(runs == 1)
        #expect(bench.records[web]?.wasRolledOut == false)
    }

    /// Whoever may write there could release the next secret by removing its rollout.
    @Test mutating func whereOneWasSeenBeforeARestartTheNextSecretWaitsForOne() throws {
        try begin()
        try offer(2, admitting: 0)
        #expect(runs == 1)
        bench.rollouts[place] = nil
        try bench.restart(Self.configuration())
        bench.pass(61)
        bench.forget()
        let third = try offer(3, admitting: nil)
        bench.pass(3600)
        #expect(runs == 0)
        admit(third.fingerprint, 0)
        bench.pass(61)
        #expect(runs == 1)
    }

    @Test mutating func anAdmittedMachineWaitsForNoTurn() throws {
        bench.reload(try Self.configuration(deliverOver: 86_400))
        try begin()
        try offer(2, admitting: 0)
        #expect(runs == 1)
    }

    @Test mutating func aFinishedRolloutLeavesEachMachineItsTurn() throws {
        bench.reload(try Self.configuration(deliverOver: 3600))
        try begin()
        let second = try secret(2)
        bench.store[place] = .secret(second, revision: 500)
        bench.rollouts[place] = .rollout(.finished(second.name), revision: 500)
        bench.pass(61)
        let turn = Int64(Double(RolloutRank.of("app17", second.fingerprint)) / 0x1p64 * 3600)
        #expect(turn > 130, "take another number for the secret")
        #expect(runs == 0)
        bench.pass(turn + 5)
        #expect(runs == 1)
    }

    /// What an operator finishes is for now.
    @Test mutating func aRolloutThatAnOperatorFinishesLeavesNoMachineItsTurn() throws {
        bench.reload(try Self.configuration(deliverOver: 3600))
        try begin()
        let second = try secret(2)
        bench.store[place] = .secret(second, revision: 500)
        bench.rollouts[place] = .rollout(Rollout(of: second.name, admitted: 0), revision: 500)
        bench.pass(61)
        #expect(runs == 0)
        bench.rollouts[place] = .rollout(Rollout(of: second.name, admitted: .max, isOrdered: true), revision: 501)
        bench.pass(61)
        #expect(runs == 1)
    }

    /// Some machines may hold the secret with another signature than the rollout's signer.
    @Test mutating func aRolloutIsAboutTheSecretWhateverItsSignature() throws {
        try begin()
        let second = try secret(2)
        let held = SecretInfo(
            SecretName(second.fingerprint, signed: Fingerprint(leadingBytes: 5)), claims: second.claims,
            signer: second.signer)
        let named = SecretName(Fingerprint(leadingBytes: 6), signed: Fingerprint(leadingBytes: 5))
        let rank = RolloutRank.of("app17", named.fingerprint)
        bench.store[place] = .secret(held, revision: 500)
        bench.rollouts[place] = .rollout(Rollout(of: named, admitted: rank - 1), revision: 500)
        bench.pass(61)
        #expect(runs == 0)
        bench.rollouts[place] = .rollout(Rollout(of: named, admitted: rank), revision: 501)
        bench.pass(61)
        #expect(runs == 1)
    }

    /// Two clients whose canaries are different machines would wait for each other.
    @Test mutating func anActionOfTwoClientsRunsOnceOneOfThemIsAdmitted() throws {
        var configuration = try Self.configuration()
        var shop = try #require(configuration.clients[web])
        shop.clientID = try #require(ClientID("com.example.shop"))
        shop.outputs = try Values.client("shop").outputs
        configuration.clients[try Values.name("shop")] = shop
        bench.reload(configuration)
        let shopPlace = StorePlace(team: place.team, client: shop.clientID, key: place.key)
        func offer(_ number: UInt64, shopAdmits: Bool) throws {
            let now = bench.now.wall.secondsSinceEpoch - Values.start
            let secret = try Values.issued(
                100 + number, id: "com.example.shop", from: now - 60 + Int64(number), to: now + 90 * Values.day,
                signer: Values.print("1"))
            let rank = RolloutRank.of("app17", secret.fingerprint)
            bench.store[shopPlace] = .secret(secret, revision: 1_000 + Int64(number))
            bench.rollouts[shopPlace] = .rollout(
                Rollout(of: secret.name, admitted: shopAdmits ? rank : rank - 1, state: .going),
                revision: 1_000 + Int64(number))
        }
        bench.go()
        try offer(1, shopAdmits: true)
        try self.offer(1, admitting: 0)
        bench.pass(61)
        bench.forget()

        try offer(2, shopAdmits: false)
        try self.offer(2, admitting: -1)
        bench.pass(600)
        #expect(runs == 0)
        try offer(3, shopAdmits: true)
        bench.pass(61)
        #expect(runs == 1)
        bench.pass(600)
        #expect(runs == 1, "it ran for both")
    }

    // MARK: Deployments

    /// The same with a place that acts with a deployment.
    private static func deploying(adding actions: [Action] = []) throws -> Configuration {
        let shop = try #require(TargetName("shop"))
        var configuration = try Self.configuration()
        let web = try Values.name("web")
        configuration.clients[web]?.targets = [PushOutput(target: shop, place: "here")]
        configuration.clients[web]?.onChange += [Action.redeploy(project: "shop", targets: [shop])] + actions
        return configuration
    }

    private var waits: [ActionView.Wait?] { get throws { try bench.view("web").actions.map(\.waitsFor) } }

    /// Begins with a secret that was deployed.
    private mutating func beginDeployed() throws {
        bench.reload(try Self.deploying())
        try offer(1, admitting: nil)
        #expect(runs == 2)
        bench.forget()
    }

    /// It is an action: until then production goes on with the earlier secret.
    @Test(arguments: [Rollout.State.going, .held])
    mutating func aSecretIsPushedAtOnceAndDeployedOnceAdmitted(state: Rollout.State) throws {
        try beginDeployed()
        let second = try offer(2, admitting: -1, state)
        #expect(bench.log.contains("push shop"))
        bench.pass(3600)
        #expect(runs == 0)
        #expect(try waits == [.rollout, .rollout])
        #expect(try bench.view("web").health == .ok)
        admit(second.fingerprint, 0, state)
        bench.pass(61)
        #expect(bench.runs == ["exec /bin/tell for web", "redeploy shop for web"])
        #expect(try bench.view("web").delivered)
    }

    @Test mutating func oneActionThatWaitsForARolloutAndOneForADeploymentAreNoFault() throws {
        try beginDeployed()
        bench.isDeploying = true
        try offer(2, admitting: 0)
        #expect(try waits == [nil, .deployment])
        // It has begun, and is followed to its end although nothing more is admitted.
        bench.rollouts[place] = nil
        bench.reload(try Self.deploying(adding: [Values.exec("/bin/added")]), 2)
        bench.pass(61)
        #expect(try waits == [nil, .deployment, .rollout])
        #expect(try bench.view("web").health == .ok)
        bench.isDeploying = false
        bench.pass(15)
        #expect(try waits == [nil, nil, .rollout])
        #expect(try bench.view("web").health == .ok)
    }

    /// The next secret waits, and nobody asks about a deployment without it. A single run would wait for that for ever.
    @Test mutating func aDeploymentOfAnEarlierSecretIsNotFollowed() throws {
        try beginDeployed()
        bench.isDeploying = true
        try offer(2, admitting: 0)
        #expect(bench.rotation.isDeploying)
        try offer(3, admitting: -1)
        bench.forget()
        bench.pass(3600)
        #expect(runs == 0)
        #expect(try waits == [.rollout, .rollout])
        #expect(!bench.rotation.isDeploying)
    }

    // MARK: After a failure

    /// The application may be down, so the next try waits neither for the store nor for a newer rollout.
    @Test(arguments: [true, false])
    mutating func anActionThatFailedRunsAgainWithoutAdmission(afterRestart isRestarted: Bool) throws {
        try begin()
        let tell = Values.exec("/bin/tell")
        bench.failures[.action(tell.id)] = Failure(.actionFailed, at: .action(tell.id))
        try offer(2, admitting: 0)
        #expect(try bench.view("web").reason?.failure.code == .actionFailed)
        if isRestarted {
            bench.failures[.store] = Failure(.storeUnreachable, at: .store)
            try bench.restart(Self.configuration(), ofMachine: false)
        } else {
            try offer(3, admitting: -1)
        }
        bench.pass(900)
        #expect(try bench.view("web").reason?.failure.code == .actionFailed)
        bench.failures[.action(tell.id)] = nil
        bench.pass(900)
        #expect(try bench.view("web").delivered)
        bench.failures[.store] = nil
        bench.forget()
        try offer(4, admitting: -1)
        bench.pass(900)
        #expect(runs == 0, "the next secret waits again")
    }

    /// Its application may be down, whatever the configuration is now.
    @Test mutating func anActionThatFailsAfterAReloadRunsAgainWithoutAdmission() throws {
        try begin()
        let tell = Values.exec("/bin/tell")
        bench.held = [.action(tell.id)]
        try offer(2, admitting: 0)
        bench.reload(try Self.configuration())
        try offer(3, admitting: -1)
        #expect(runs == 1)
        try bench.end(.action(tell.id), .failure(Failure(.actionFailed, at: .action(tell.id))))
        #expect(runs == 2)
        #expect(try bench.view("web").delivered)
    }

    /// It was seen to have no rollout, and waits only for its turn.
    @Test mutating func aSecretThatWasSeenWithoutARolloutIsDeliveredAlthoughThePlaceIsForbiddenLater() throws {
        bench.reload(try Self.configuration(deliverOver: 3600))
        try begin()
        try offer(2, admitting: nil)
        #expect(runs == 0)
        bench.store[place] = .forbidden
        bench.rollouts[place] = .forbidden
        bench.pass(3700)
        #expect(runs == 1)
    }

    @Test mutating func aPlaceThatMayNotBeReadIsReported() throws {
        try begin()
        let second = try secret(2)
        bench.store[place] = .secret(second, revision: 101)
        bench.rollouts[place] = .forbidden
        bench.pass(61)
        #expect(try bench.view("web").reason?.failure.code == .storeForbidden)
        // Whether it is admitted is not known.
        #expect(try bench.held(in: "web.jwt") == second)
        #expect(runs == 0)
        bench.sleep(77 * Values.day)
        #expect(runs == 1)
    }
}
