import AppleAPI
import AppleClientSecret
import Config
import Daemon
import Failures
import Model
import Rotation
import TestSupport
import Testing

@testable import clientsecretd

/// Which link of a secret's way is the first broken one, and what helps.
@Suite struct ClientChainTests {
    private static let now = WallTime(secondsSinceEpoch: 1_800_000_000)
    private static let current = Fingerprint(leadingBytes: 1)
    private static let former = Fingerprint(leadingBytes: 2)
    private static let restart = Action.unit(verb: .restart, unit: "shop.service")

    private static func secret(expiringAt expiry: WallTime = now + 86_400) -> SecretInfo {
        .sample(
            1, .sample(issuedAt: (now - 3_600).secondsSinceEpoch, expiresAt: expiry.secondsSinceEpoch))
    }

    private static func path(_ text: String) throws -> AbsolutePath { try #require(AbsolutePath(text)) }

    /// A client in order: one variable of a `.env`, and a service that is restarted and holds it.
    private static func facts(
        actions: String = "[{restart: shop.service}]", more: String = ""
    ) throws -> ChainFacts {
        let text = """
            keys: {apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /etc/clientsecretd/AuthKey_ABC123DEFG.p8}}
            clients:
              web:
                client_id: com.example.web
                outputs: [{path: /srv/shop/.env, format: env, variable: SECRET, as: shop}]
                on_change: \(actions)
                \(more)
            """
        let configuration = try parsed(text).configuration
        let name = try #require(ClientName("web"))
        var facts = ChainFacts(
            name: name, client: try #require(configuration.clients[name]),
            key: try #require(configuration.keys.values.first), now: now)
        facts.decision = .keep(secret(), until: now + 3_600)
        facts.published = [(current, "/srv/shop/.env")]
        facts.writtenAt = now - 3_600
        facts.units = [ReaderUnit(name: "shop.service", activity: "active")]
        facts.processes = [process(holding: [held(current)])]
        return facts
    }

    private static func held(
        _ fingerprint: Fingerprint, in variable: String = "SECRET", client: String = "com.example.web",
        until expiry: WallTime = now - 60
    ) -> HeldSecret {
        HeldSecret(place: .variable(variable), fingerprint: fingerprint, client: client, expiresAt: expiry)
    }

    private static func process(
        holding secrets: [HeldSecret] = [], and otherVariables: Set<String>? = nil, of unit: String? = "shop.service",
        owner: UInt32 = 0, groups: Set<UInt32> = [0], startedAt: WallTime = now - 60
    ) -> ReaderProcess {
        ReaderProcess(
            id: 42, command: "node", unit: unit, owner: owner, groups: groups, startedAt: startedAt, secrets: secrets,
            otherVariables: otherVariables)
    }

    /// The unit, with the output as its environment file.
    private static func unit(changedAt: WallTime? = nil, removedBy: String? = nil) throws -> ReaderUnit {
        ReaderUnit(
            name: "shop.service", activity: "active",
            variables: ["SECRET": ReaderUnit.EnvironmentFile(path: try path("/srv/shop/.env"), removedBy: removedBy)],
            changedAt: changedAt)
    }

    /// What the daemon shows of the client.
    private static func view(
        of client: ClientConfiguration, output: OutputView.State = .ok, action: ActionView.State = .ok
    ) throws -> ClientView {
        let format = try #require(client.outputs.first).format
        let outputs = [
            OutputView(
                path: try path("/srv/shop/.env"), format: format, state: output, writtenAt: nil,
                error: output == .ok ? nil : "the disk is full")
        ]
        let actions = [
            ActionView(action: restart.id, state: action, ranAt: nil, error: action == .ok ? nil : "it ended at once")
        ]
        return ClientView(
            name: try #require(ClientName("web")), clientID: try #require(ClientID("com.example.web")),
            team: try #require(TeamID("DEF123GHIJ")), keyID: try #require(KeyID("ABC123DEFG")), health: .ok,
            reason: nil,
            current: secret(), deliveredExpiresAt: nil, renewAt: nil, renewals: 0, consecutiveFailures: 0,
            lastError: nil, delivered: true, outputs: outputs, actions: actions)
    }

    /// What the daemon shows of a client whose action has yet to run, and of its problem.
    private static func view(
        of client: ClientConfiguration, waitingFor wait: ActionView.Wait?, because failure: Failure? = nil
    ) throws -> ClientView {
        var view = try view(of: client)
        if let failure {
            view.health = .degraded
            view.reason = Reason(failure: failure, client: view.name, since: now)
        }
        view.delivered = false
        view.actions = [ActionView(action: restart.id, state: .pending, ranAt: nil, error: nil, waitsFor: wait)]
        return view
    }

    /// What is wrong, the first broken link, and the command that helps.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let link: ChainLink.Name?
        let command: String?
        let change: @Sendable (inout ChainFacts) throws -> Void

        init(
            _ description: String, _ link: ChainLink.Name? = nil, _ command: String? = nil,
            _ change: @escaping @Sendable (inout ChainFacts) throws -> Void
        ) {
            testDescription = description
            self.link = link
            self.command = command
            self.change = change
        }
    }

    private static let starting = "systemctl start clientsecretd.service"
    private static let restarting = "systemctl restart shop.service"
    private static let listening = "systemctl enable --now clientsecretd-writer@app.socket"
    private static let renewing = "clientsecretd renew web"
    private static let delivering = "clientsecretd renew --deliver-only web"
    /// Before the current secret was minted.
    private static let earlier: WallTime = now - 7_200
    private static let stale = HiddenOutput(
        file: "/x", line: 1, words: "it was started earlier", unit: "shop.service")
    private static let unrestarted = HiddenOutput(
        file: "/x", line: 1, words: "nothing restarts it", remedy: .say("write it"), unit: "worker.service",
        isOfNext: true)
    private static let refused = Failure(.configurationRefused, at: .named("/x"))

    private static let cases: [Case] = [
        Case("nothing") { _ in },
        Case("the key cannot be read", .key) {
            $0.problems = [Failure(.keyMissing, at: .path(try path("/etc/clientsecretd/AuthKey_ABC123DEFG.p8")))]
        },
        Case("the file is another key's", .ids) {
            let key = KeyConfiguration(
                team: $0.key.team, keyID: try #require(KeyID("OTHER1KEYS")), location: $0.key.location)
            $0 = ChainFacts(name: $0.name, client: $0.client, key: key, now: now)
        },
        Case("the clock is not believed", .clock) { $0.problems = [Failure(.clockDoubtful, at: .clock)] },
        Case("by a clock that may be ahead it seems to have expired", .clock) {
            $0.clockFailure = Failure(.clockPerhapsAhead, at: .clock)
            $0.decision = .keep(secret(expiringAt: now), until: now)
        },
        Case("there is no secret", .secret, starting) { $0.decision = .mint(.missing) },
        Case("the secret has expired", .secret, starting) { $0.decision = .keep(secret(expiringAt: now), until: now) },
        Case("the daemon has no secret, and reports why", .secret, renewing) {
            var view = try view(of: $0.client)
            view.current = nil
            view.reason = Reason(failure: Failure(.noSecret, at: .client($0.name)), client: $0.name, since: now)
            $0.view = view
        },
        Case("the disk of its output does not respond", .outputs) {
            $0.problems = [Failure(.notResponding, at: .path(try path("/srv/shop/.env")))]
            $0.decision = .mint(.missing)
            $0.evaluation =
                Configuration(keys: [$0.client.key: $0.key], clients: [$0.name: $0.client]).evaluate(
                    [try path("/srv/shop/.env"): .failure($0.problems[0])], [:], builtAt: now,
                    at: Now(wall: now, boot: BootTime(milliseconds: 0), kernelSynced: true)
                ).first
        },
        Case("the API does not answer, and the daemon's reason is Apple", .outputs) {
            $0.view = try view(of: $0.client, output: .failed)
            $0.view?.outputs[0].failure = Failure(.pushUnreachable, at: .path(try path("/srv/shop/.env")))
            $0.view?.reason = Reason(
                failure: Failure(.verdictUnknown, at: .client($0.name)), client: $0.name, since: now)
            $0.published = [(former, "/srv/shop/.env")]
        },
        Case("the writer of its user is missing, and the daemon's reason is Apple", .outputs, listening) {
            $0.view = try view(of: $0.client, output: .failed)
            $0.view?.outputs[0].readRemedy = .reported(listening, command: listening)
            $0.view?.reason = Reason(
                failure: Failure(.verdictUnknown, at: .client($0.name)), client: $0.name, since: now)
            $0.published = [(former, "/srv/shop/.env")]
        },
        Case("the daemon cannot write", .outputs, renewing) {
            $0.view = try view(of: $0.client, output: .failed)
            $0.published = [(former, "/srv/shop/.env")]
        },
        Case("one file is contested and cannot be read, another holds the current secret", .outputs, renewing) {
            $0.view = try view(of: $0.client, output: .contested)
            $0.isEachOutputRead = false
        },
        Case("the file is contested, and holds the current secret for now") {
            $0.view = try view(of: $0.client, output: .contested)
        },
        Case("the file holds an earlier secret", .outputs, delivering) { $0.published = [(former, "/srv/shop/.env")] },
        Case("another file hides it, and no process is seen", .hidden) {
            $0.hidden = [HiddenOutput(file: "/srv/shop/.env.local", line: 2, words: "SECRET is set here too")]
            $0.processes = nil
        },
        Case("the action fails", .unit, delivering) { $0.view = try view(of: $0.client, action: .failed) },
        Case("the action fails, and the daemon knows what helps", .unit, restarting) {
            $0.view = try view(of: $0.client, action: .failed)
            $0.view?.actions[0].readRemedy = .reported(restarting, command: restarting)
        },
        Case("the action fails, and the outputs are judged by the record", .unit, delivering) {
            $0.view = try view(of: $0.client, action: .failed)
            $0.evaluation = OutputsHealth(
                client: $0.name, health: .degraded, failure: Failure(.notDelivered, at: .client($0.name)),
                secret: secret())
        },
        Case("without a daemon, applications were last told of a secret that has expired", .unit, delivering) {
            $0.evaluation = OutputsHealth(
                client: $0.name, health: .critical, failure: Failure(.secretExpired, at: .client($0.name)),
                secret: .sample(2, .sample(issuedAt: 1_700_000_000, expiresAt: 1_700_086_400)))
        },
        Case("the action is not allowed", .unit) {
            $0.problems = [Failure(.unitNotPermitted, at: .action(restart.id))]
        },
        Case("the socket of the unit's credential is gone", .unit) {
            $0.client.credential = ServedCredential(unit: "shop.service", name: "secret")
            $0.problems = [Failure(.credentialSocketUnusable, at: .named("a.socket"), remedy: .say("start it"))]
        },
        Case("the socket is gone, and the client needs none") {
            $0.problems = [Failure(.credentialSocketUnusable, at: .named("a.socket"))]
        },
        Case("the action waits for its turn") { $0.view = try view(of: $0.client, waitingFor: .turn) },
        Case("the rollout is held, and the process has the earlier secret, as it should") {
            $0.view = try view(of: $0.client, waitingFor: .rollout)
            $0.processes = [process(holding: [held(former, until: now + 60)], startedAt: earlier)]
            $0.hidden = [stale]
        },
        Case("the same, and the earlier secret has expired", .process, restarting) {
            $0.view = try view(of: $0.client, waitingFor: .rollout)
            $0.processes = [process(holding: [held(former)], startedAt: earlier)]
        },
        Case("the same without a daemon, which alone knows of turns and rollouts") {
            $0.client.source = SourceConfiguration(.store)
            $0.processes = [process(holding: [held(former, until: now + 60)], startedAt: earlier)]
        },
        Case("what is started waits for a rollout, and the secret was minted since") {
            $0.view = try view(of: $0.client, waitingFor: .rollout)
            $0.processes = [process(startedAt: earlier)]
        },
        Case("the first deployment is being built") {
            $0.view = try view(of: $0.client, waitingFor: .deployment)
            $0.view?.health = .degraded
        },
        Case("one action waits and another fails", .unit, delivering) {
            var view = try view(of: $0.client, action: .failed)
            let other = ActionView(
                action: ActionID("exec /x"), state: .pending, ranAt: nil, error: nil, waitsFor: .turn)
            view.actions.insert(other, at: 0)
            $0.view = view
        },
        Case("the action has yet to run, and the daemon finds nothing wrong") {
            $0.view = try view(of: $0.client, waitingFor: nil)
        },
        Case("the action has yet to run, and the daemon finds that wrong", .unit, delivering) {
            $0.view = try view(of: $0.client, waitingFor: nil, because: Failure(.notDelivered, at: .client($0.name)))
        },
        // By the last good configuration no action runs, whoever asks for it.
        Case("the action does not run because the text on disk is refused", .unit, refused.remedy?.command) {
            $0.view = try view(of: $0.client, waitingFor: nil, because: refused)
        },
        Case("the daemon finds nothing wrong with what the caller cannot judge") {
            $0.view = try view(of: $0.client)
            $0.evaluation = OutputsHealth(
                client: $0.name, health: .degraded, failure: Failure(.signatureUnchecked, at: .client($0.name)),
                secret: secret())
        },
        Case("the unit has failed", .unit) { $0.units = [ReaderUnit(name: "shop.service", activity: "failed")] },
        Case("the process holds an earlier secret", .process, restarting) {
            $0.processes = [process(holding: [held(former)], startedAt: earlier)]
        },
        Case("the process holds one under another name too", .process, restarting) {
            $0.processes = [process(holding: [held(current), held(former, in: "OTHER")], startedAt: earlier)]
        },
        Case("its variable holds another client's secret", .process, restarting) {
            $0.processes = [process(holding: [held(former, client: "com.example.old")], startedAt: earlier)]
        },
        // Something that starts it sets an earlier secret: it would be set again.
        Case("the process was started after the secret was written, with an earlier one", .process) {
            $0.processes = [process(holding: [held(former)])]
        },
        Case("the unit was changed since that", .process, restarting) {
            $0.processes = [process(holding: [held(former)])]
            $0.units = [try unit(changedAt: now - 60)]
        },
        Case("the process was started before the secret was written, with a value that is none", .process, restarting) {
            $0.processes = [process(and: ["SECRET"], startedAt: now - 3_601)]
        },
        Case("the process was started after the secret was written, with a value that is none", .process) {
            $0.processes = [process(and: ["SECRET"])]
        },
        Case("one of its processes has a value that is none, and another the secret", .process) {
            $0.units = [try unit()]
            $0.processes = [process(holding: [held(current)]), process(and: ["SECRET"])]
        },
        Case("the variable is another output's, and the unit has the secret elsewhere") {
            $0.processes = [process(holding: [held(current, in: "OTHER")], and: ["SECRET"])]
        },
        Case("a process outside of all units holds an earlier one", .process) {
            $0.processes = [process(holding: [held(current)]), process(holding: [held(former)], of: nil)]
        },
        Case("a user who may not read the file runs a process with one that it may have made up") {
            $0.processes?.append(process(holding: [held(former)], of: "important.service", owner: 4_711))
        },
        Case("a process of a group that may read the file holds an earlier one", .process) {
            $0.readers = OutputReaders(users: [0], groups: [33])
            $0.processes = [process(holding: [held(former)], of: "web.service", owner: 4_711, groups: [1, 33])]
        },
        Case("a process of the file's owner holds an earlier one", .process) {
            $0.readers = OutputReaders(users: [0, 4_711])
            $0.processes = [process(holding: [held(former)], of: "other.service", owner: 4_711)]
        },
        Case("the process holds an earlier secret that is still valid", .process, restarting) {
            $0.processes = [process(holding: [held(former, in: "OTHER", until: now + 60)], startedAt: earlier)]
        },
        Case("another installation's process holds one that is valid") {
            $0.processes?.append(process(holding: [held(former, until: now + 60)], of: "other.service"))
        },
        Case("another program holds another client's secret") {
            $0.processes?.append(process(holding: [held(former, client: "com.example.old")], of: "other.service"))
        },
        Case("the unit was started before the secret was minted", .process, restarting) {
            $0.processes = [process(startedAt: earlier)]
        },
        Case("the same, and on_change names it by an alias", .process, "systemctl restart apache.service") {
            $0.units = [ReaderUnit(name: "apache.service", aliases: ["shop.service"], activity: "active")]
            $0.processes = [process(of: "apache.service", startedAt: earlier)]
        },
        Case("no unit is named, and one whose settings name the file has an earlier secret", .process, restarting) {
            $0.units = [ReaderUnit(name: "shop.service", isConfigured: false, activity: "active")]
            $0.client.onChange = []
            $0.processes = [process(holding: [held(former)], startedAt: earlier)]
        },
        Case("a unit that on_change forgets has an earlier secret", .process, "systemctl restart worker.service") {
            $0.units.append(ReaderUnit(name: "worker.service", isConfigured: false, activity: "active"))
            $0.processes?.append(process(holding: [held(former)], of: "worker.service", startedAt: earlier))
        },
        Case("a unit that on_change forgets has the current one") { $0.hidden = [unrestarted] },
        Case("no unit is named any more, and the daemon has failed to restart one") {
            $0.view = try view(of: $0.client, action: .failed)
            $0.client.onChange = []
            $0.units = []
        },
        Case("the unit was started since") { $0.processes = [process()] },
        Case("one of its processes may read it") {
            $0.processes = [process(owner: 4_711, groups: [4_711]), process()]
        },
        Case("the unit takes another secret when it starts", .unit) {
            $0.problems = [Failure(.unitMismatch, at: .named("shop.service"), detail: "it reads another file")]
        },
        Case("another unit does") {
            $0.problems = [Failure(.unitMismatch, at: .named("blog.service"), detail: "it reads another file")]
        },
        Case("the unit was not restarted, as its settings show", .process, restarting) { $0.hidden = [stale] },
        Case("several", .key) {
            $0.processes = [process(holding: [held(former)])]
            $0.published = [(former, "/srv/shop/.env")]
            $0.problems = [Failure(.keyMissing, at: .key(try #require(KeyName("apple"))))]
        },
        Case("nobody can be asked") {
            $0.decision = nil
            $0.processes = nil
            $0.units = []
        },
    ]

    private static func link(_ name: ChainLink.Name, of facts: ChainFacts) throws -> ChainLink {
        try #require(ClientChain(facts).links.first { $0.name == name })
    }

    /// That it was started since shows only that it has read something.
    @Test func aProcessThatMayNotReadTheFileIsNotOK() throws {
        var facts = try Self.facts()
        facts.processes = [Self.process(owner: 4_711, groups: [4_711])]
        #expect(
            try Self.link(.process, of: facts)
                == ChainLink(
                    .process, .broken,
                    "process 42 (shop.service, node) runs as user 4711, who may not read /srv/shop/.env",
                    .say("write EnvironmentFile=/srv/shop/.env into the unit, which systemd reads as root")))
        facts.units = [ReaderUnit(name: "shop.service", activity: "active", runsCommandsFirst: true)]
        #expect(try Self.link(.process, of: facts).state == .unknown)
        facts.writtenAt = nil
        #expect(try Self.link(.process, of: facts).state == .unknown)
    }

    /// Of a client that receives its secrets: nothing more is known without a newer one, as long as the current one is valid.
    @Test func aSourceThatOffersNothingIsALinkOfItsOwn() throws {
        let file = try Self.path("/etc/clientsecretd/received.jwt")
        func link(_ change: (inout ChainFacts) throws -> Void) throws -> (link: ChainLink?, broken: ChainLink.Name?) {
            var facts = try Self.facts()
            facts.client.source = SourceConfiguration(
                path: file, format: try #require(facts.client.outputs.first).format)
            try change(&facts)
            let chain = ClientChain(facts)
            return (chain.links.first { $0.name == .source }, chain.broken?.name)
        }
        #expect(try link { $0.client.source = nil }.link == nil)
        #expect(try link { _ in }.link?.state == .ok)
        let missing = Failure(.sourceMissing, at: .path(file))
        let warning = try link { $0.sourceFailure = missing }
        #expect(warning.link == ChainLink(.source, .warning, missing.sentence, missing.remedy))
        #expect(warning.broken == nil)
        let broken = try link {
            $0.decision = .receive
            $0.problems = [missing]
        }
        #expect(broken.link == ChainLink(.source, broken: missing) && broken.broken == .source)
        // The outputs hold a secret of the key before.
        let replaced = try link {
            $0.decision = .receive
            $0.problems = [missing]
            $0.evaluation = OutputsHealth(
                client: $0.name, health: .degraded, failure: Failure(.notPublished, at: .client($0.name)),
                secret: Self.secret())
        }
        #expect(replaced.link == ChainLink(.source, broken: missing) && replaced.broken == .source)
        // What the daemon has seen counts.
        for (state, code) in [
            (SourceView.State.stale, Failure.Code.sourceStale), (.wrong, .sourceWrong), (.missing, .sourceMissing),
            (.unreachable, .sourceUnreadable),
        ] {
            let seen = try link {
                var view = try Self.view(of: $0.client)
                view.source = SourceView(place: file.description, state: state, since: Self.now)
                $0.view = view
            }
            #expect(seen.link?.state == .warning && seen.link?.words.contains(code.words) == true)
        }
        let store = try link { $0.client.source = SourceConfiguration(.store) }
        #expect(store.link?.state == .unknown && store.broken == nil)
        let failure = Failure(.storeServiceMissing, at: .store)
        let unreachable = try link {
            $0.client.source = SourceConfiguration(.store)
            $0.decision = .receive
            $0.problems = [failure]
        }
        #expect(unreachable.link == ChainLink(.source, broken: failure))
    }

    /// Without an answer there may be a unit all the same.
    @Test func aSystemdThatDoesNotAnswerIsNotTakenForOneWithoutUnits() throws {
        var facts = try Self.facts(actions: "[]")
        (facts.units, facts.areUnitsKnown) = ([], false)
        let silence = "systemd does not answer, so it is not known"
        #expect(try Self.link(.unit, of: facts) == ChainLink(.unit, .unknown, "\(silence) which unit reads the secret"))
        facts.units = [ReaderUnit(name: "shop.service", activity: nil)]
        #expect(
            try Self.link(.unit, of: facts) == ChainLink(.unit, .unknown, "\(silence) whether it runs: shop.service"))
    }

    /// systemd asks for a credential by the unit's own name. Whether the daemon runs changes nothing.
    @Test func aUnitThatIsNamedByAnAliasDoesNotGetItsCredential() throws {
        let failure = Failure(.unitCannotStart, at: .named("web.service"), detail: "systemd asks for it otherwise")
        for (credential, name) in [
            ("credential: {unit: web.service, name: secret}", ChainLink.Name.unit),
            ("credential: {unit: shop.service, name: secret}", .secret),
        ] {
            var facts = try Self.facts(more: credential)
            facts.problems = [failure]
            #expect(ClientChain(facts).broken?.name == name)
        }
    }

    /// What an API showed, or the daemon recorded, decides whether a target holds the secret.
    @Test func aTargetHoldsWhatWasShownOrTaken() throws {
        let target = try #require(TargetName("production"))
        var facts = try Self.facts(actions: "[]")
        facts.client.targets = [PushOutput(target: target, place: "here")]
        facts.client.outputs = []
        func link() throws -> ChainLink { try Self.link(.outputs, of: facts) }
        for (verified, expected) in [
            (true, ChainLink(.outputs, .ok, "target production holds it")),
            (nil, ChainLink(.outputs, .ok, "target production has taken it")),
            (false, ChainLink(.outputs, .unknown, "target production has taken it, and does not show it yet")),
        ] as [(Bool?, ChainLink)] {
            var view = try Self.view(of: Self.facts().client)
            view.outputs = [
                OutputView(target: target, verified: verified, state: .ok, writtenAt: nil, error: nil)
            ]
            facts.view = view
            #expect(try link() == expected)
        }
        facts.view = nil
        func evaluation(_ health: HealthState?, _ code: Failure.Code?, _ supplied: Set<TargetName>?) -> OutputsHealth {
            var found = OutputsHealth(
                client: facts.name, health: health, failure: code.map { Failure($0, at: .client(facts.name)) },
                secret: Self.secret())
            found.supplied = supplied
            return found
        }
        facts.evaluation = evaluation(.ok, nil, [target])
        #expect(try link() == ChainLink(.outputs, .ok, "target production has taken it"))
        // The record cannot be read.
        facts.evaluation = evaluation(nil, .noOutputs, nil)
        let words = "only the daemon knows whether target production holds it"
        #expect(try link() == ChainLink(.outputs, .unknown, words))
        facts.evaluation = evaluation(.degraded, .notPublished, [])
        #expect(try link() == ChainLink(.outputs, broken: Failure(.notPublished, at: .client(facts.name))))
        #expect(ClientChain(facts).broken?.name == .outputs)
    }

    /// The place has the secret.
    @Test func aPlaceThatIsSwitchedOffIsAWarning() throws {
        var facts = try Self.facts()
        let target = try #require(TargetName("production"))
        let failure = Failure(.pushSwitchedOff, at: .target(target), detail: "enabled is false")
        var view = try Self.view(of: facts.client)
        var output = OutputView(target: target, verified: true, state: .ok, writtenAt: nil, error: failure.message)
        output.failure = failure
        view.outputs.append(output)
        facts.view = view
        #expect(
            try Self.link(.outputs, of: facts) == ChainLink(.outputs, .warning, failure.message, failure.remedy))
    }

    @Test(arguments: cases) func theFirstBrokenLinkIsNamed(_ one: Case) throws {
        var facts = try Self.facts()
        try one.change(&facts)
        let chain = ClientChain(facts)
        let names = ChainLink.Name.allCases.filter { $0 != .source || facts.client.source != nil }
        #expect(chain.links.map(\.name) == names)
        #expect(chain.broken?.name == one.link, "\(chain.links.map(\.words))")
        #expect(chain.broken?.remedy?.command == one.command)
    }

    @Test func aUnitThatOnChangeDoesNotNameIsAWarning() throws {
        var facts = try Self.facts()
        facts.hidden = [Self.unrestarted]
        let expected = ChainLink(.unit, .warning, "nothing restarts it; write it")
        #expect(try Self.link(.unit, of: facts) == expected)
    }

    /// A wrapper may have removed it after it read it.
    @Test func aProcessWithoutTheVariableThatItsUnitReadsIsNotCalledRight() throws {
        func link(removedBy file: String? = nil, otherVariables: Set<String>? = []) throws -> ChainLink {
            var facts = try Self.facts()
            facts.units = [try Self.unit(removedBy: file)]
            facts.processes = [Self.process(and: otherVariables)]
            return try Self.link(.process, of: facts)
        }
        let words = "process 42 (shop.service, node) was started without the variable SECRET, although "
        #expect(try link() == ChainLink(.process, .unknown, words + "shop.service reads it from /srv/shop/.env"))
        #expect(
            try link(removedBy: "/etc/systemd/system/shop.service.d/a.conf").words
                == words + "/etc/systemd/system/shop.service.d/a.conf clears the EnvironmentFile= for /srv/shop/.env")
        // Where its environment cannot be seen, the time of its start decides.
        #expect(try link(otherVariables: nil).state == .ok)
    }

    @Test func aProcessThatMayNotBeLookedIntoIsNotKnown() throws {
        var facts = try Self.facts(actions: "[{reload: shop.service}]")
        facts.hidden = [
            HiddenOutput(
                file: "/x", line: 1, words: "it may have been started earlier", unit: "shop.service", isKnown: false)
        ]
        var process = Self.process()
        process.isForbidden = true
        facts.processes = [process]
        let words =
            "process 42 (shop.service, node): this user may not look into it, so it is not known what it holds"
        #expect(try Self.link(.process, of: facts) == ChainLink(.process, .unknown, words))
        #expect(ClientChain(facts).broken == nil)
        // The time of its start proves something without that.
        facts = try Self.facts()
        process = Self.process(startedAt: Self.earlier)
        process.isForbidden = true
        facts.processes = [process]
        #expect(try Self.link(.process, of: facts).state == .broken)
    }

    /// A program that reads a file by itself may read another one. Only what systemd gives it is known to be read at its start.
    @Test func aLaterStartProvesNothingOfAProgramThatReadsByItself() throws {
        func state(
            startedAt: WallTime = Self.now - 60, _ unit: ReaderUnit? = nil, credential: String = "",
            actions: String = "[{restart: shop.service}]"
        ) throws -> ChainLink.State {
            var facts = try Self.facts(actions: actions, more: credential)
            if let unit { facts.units = [unit] }
            facts.processes = [Self.process(startedAt: startedAt)]
            return try Self.link(.process, of: facts).state
        }
        // Right after the write, and long after it.
        for startedAt in [Self.now - 3_600, Self.now - 60] { #expect(try state(startedAt: startedAt) == .unknown) }
        #expect(try state(Self.unit()) == .ok)
        #expect(try state(startedAt: Self.earlier, Self.unit()) == .broken)
        #expect(try state(credential: "credential: {unit: shop.service, name: secret}") == .ok)
        #expect(try state(credential: "credential: {unit: other.service, name: secret}") == .unknown)
        // A program that is told by a signal reads the secret without a start.
        #expect(try state(startedAt: Self.earlier, actions: "[{reload: shop.service}]") == .unknown)
    }

    /// The owner of a file has no key to check its signature with.
    @Test func aSignatureThatThisUserCannotCheckIsNotBroken() throws {
        var facts = try Self.facts()
        let failure = Failure(.signatureUnchecked, at: .client(facts.name))
        facts.evaluation = OutputsHealth(
            client: facts.name, health: .degraded, failure: failure, secret: Self.secret())
        #expect(try Self.link(.outputs, of: facts) == ChainLink(.outputs, .unknown, failure.message))
        #expect(ClientChain(facts).broken == nil)
    }

    /// Else a chain of which nothing is known would look like one that was found in order.
    @Test func theHeadingNamesWhatIsNotKnown() throws {
        func heading(_ change: (inout ChainFacts) -> Void) throws -> String? {
            var facts = try Self.facts()
            change(&facts)
            let report = DoctorReport(chains: [ClientChain(facts)], unanswered: nil)
            return report.lines(for: Terminal(size: nil, environment: [:])).first?.map(\.text).joined()
        }
        #expect(try heading { _ in } == "web: no broken link; not known: apple")
        let words = try heading {
            $0.processes = nil
            ($0.units, $0.areUnitsKnown) = ([], false)
        }
        #expect(words == "web: no broken link; not known: unit, process, apple")
        #expect(try heading { $0.published = [(Self.former, "/srv/shop/.env")] } == "web: broken at outputs")
    }

    /// pm2 and containers keep the environment of their first start.
    @Test func aProgramOutsideOfItsUnitsIsStartedAgainWithoutItsVariable() throws {
        var facts = try Self.facts(actions: "[{start: shop-pm2.service}]")
        facts.units = []
        facts.processes = [Self.process(holding: [Self.held(Self.former)], of: "pm2-app.service")]
        let words = "remove SECRET from the environment of process 42 and start it again"
        #expect(ClientChain(facts).broken?.remedy == .say(words))
    }

    @Test func anOverrideIsNamedWithItsRemedy() throws {
        let remedy = Remedy.say("remove SECRET from /srv/shop/.env.local, then: systemctl restart shop.service")
        var facts = try Self.facts()
        facts.hidden = [
            HiddenOutput(file: "/srv/shop/.env.local", line: 2, words: "SECRET is set here", remedy: remedy)
        ]
        #expect(ClientChain(facts).links.contains { $0.state == .warning && $0.words.hasSuffix("; \(remedy)") })
        #expect(ClientChain(facts).broken == nil)
        facts.processes = [Self.process()]
        #expect(ClientChain(facts).broken?.remedy == remedy)
        #expect(ClientChain(facts).broken?.words == "/srv/shop/.env.local:2: SECRET is set here")
    }

    /// Which users read the file is not known.
    @Test func aModeThatIsNotAppliedIsAWarning() throws {
        var facts = try Self.facts()
        facts.processes = nil
        facts.hidden = [
            HiddenOutput(file: "/srv/shop/.env", line: nil, words: "mode 0640 is not applied", isKnown: false)
        ]
        #expect(facts.hiddenLink == ChainLink(.hidden, .warning, "/srv/shop/.env: mode 0640 is not applied"))
        facts.hidden.append(HiddenOutput(file: "/srv/shop/.env.local", line: 2, words: "SECRET is set here"))
        #expect(facts.hiddenLink == ChainLink(.hidden, .broken, "/srv/shop/.env.local:2: SECRET is set here"))
    }

    @Test func aCheckThatOnlyRootCanMakeIsNoAlarm() throws {
        var facts = try Self.facts()
        facts.isForCallerOnly = true
        facts.problems = [
            Failure(.keyNotGuarded, at: .key(try #require(KeyName("apple"))), detail: "group clientsecretd"),
            Failure(.stateUnusable, at: .path(try Self.path("/var/lib/clientsecretd"))),
        ]
        for name in [ChainLink.Name.key, .secret] {
            #expect(
                try Self.link(name, of: facts)
                    == ChainLink(name, .unknown, "only root can check this; run: sudo clientsecretd doctor"))
        }
    }

    @Test func theReasonForWaitingIsNamed() throws {
        var view = try Self.view(of: Self.facts().client, action: .pending)
        view.actions[0].error = nil
        let words = "Waiting until shop.service has restarted ..."
        #expect([view].waitingWords == words)
        // Such as that the place is switched off.
        view.outputs[0].error = "a warning"
        #expect([view].waitingWords == words)
        view.outputs[0].state = .failed
        #expect([view].waitingWords != words)
        // Nothing is about to happen.
        view.outputs[0] = try Self.view(of: Self.facts().client).outputs[0]
        #expect(view.isPending)
        view.actions[0].waitsFor = .rollout
        #expect(!view.isPending)
        view.actions[0].waitsFor = nil
        view.reason = Reason(failure: Self.refused, client: view.name, since: Self.now)
        #expect(!view.isPending)
    }

    /// Such as after its key was replaced. Until the source was read, a secret may come at once.
    @Test(arguments: [SourceView.State.missing, .unreachable, .stale, .wrong])
    func nothingIsAboutToHappenToAClientWhoseSourceHasNoSecret(_ state: SourceView.State) throws {
        var view = try Self.view(of: Self.facts().client, waitingFor: nil, because: Failure(.notChecked, at: .clock))
        view.outputs[0].state = .pending
        view.current = nil
        view.source = SourceView(place: "/in/web.jwt", state: state, since: Self.now)
        #expect(view.isPending)
        view.reason = Reason(failure: Failure(.sourceMissing, at: .store), client: view.name, since: Self.now)
        #expect(!view.isPending)
        view.current = Self.secret()
        #expect(view.isPending)
    }

    /// The key's file was renamed: Apple knows the key by the configured id.
    @Test func theNameOfTheKeysFileDoesNotMatterIfAppleAcceptsTheSecret() throws {
        let known = try Self.facts()
        let id = try #require(KeyID("OTHER1KEYS"))
        let key = KeyConfiguration(team: known.key.team, keyID: id, location: known.key.location)
        var facts = ChainFacts(name: known.name, client: known.client, key: key, now: Self.now)
        #expect(facts.idsLink.state == .broken)
        facts.verdict = try Self.acceptance(of: known)
        #expect(facts.idsLink.state == .ok)
    }

    @Test func aKeyWithOtherIdsUnderAnotherNameIsNamedUnlessAppleAcceptsTheSecret() throws {
        var facts = try Self.facts()
        let team = try #require(TeamID("XYZ123GHIJ"))
        let other = KeyConfiguration(team: team, keyID: facts.key.keyID, location: facts.key.location)
        let name = try #require(KeyName("apple"))
        let otherName = try #require(KeyName("other"))
        facts.sharedKeys = [SharedKey(name, facts.key, and: otherName, other)]
        #expect(facts.idsLink.state == .warning)
        #expect(facts.idsLink.words.contains(#"keys "other" (team XYZ123GHIJ, key id ABC123DEFG) and "apple" ("#))
        facts.verdict = try Self.acceptance(of: facts)
        #expect(facts.idsLink.state == .ok)
    }

    /// Apple's answer that it accepts the secret.
    private static func acceptance(of facts: ChainFacts) throws -> ChainFacts.Verdict {
        let bytes = Claims.sample().sampleToken()
        let secret = PublishedSecret(
            name: facts.name, place: "/srv/shop/.env",
            token: Token(bytes, sha256: { _ in [UInt8](repeating: 7, count: 32) }), jws: try CompactJWS(bytes),
            clientID: facts.client.clientID, configured: nil)
        let answer = HTTPAnswer(status: 400, body: Array(#"{"error":"invalid_grant"}"#.utf8), date: nil)
        return .answered(VerifyResult(secret, Verdict(.success(answer))))
    }

    /// Whatever else keeps the daemon from its work.
    @Test func appleIsAskedAboutACurrentSecretThatAnOutputHolds() throws {
        let bytes = Claims.sample().sampleToken()
        let token = Token(bytes, sha256: { _ in [UInt8](repeating: 7, count: 32) })
        var facts = try Self.facts()
        facts.problems = [Failure(.stateUnusable, at: .path(try Self.path("/var/lib/clientsecretd")))]
        #expect(facts.reasonNotToAsk == "Apple was not asked, because no current secret is published")
        facts.secretToTry = .success(
            PublishedSecret(
                name: facts.name, place: "/srv/shop/.env", token: token,
                jws: try CompactJWS(bytes), clientID: facts.client.clientID, configured: nil))
        func keep(until expiry: WallTime) {
            let claims = Claims.sample(expiresAt: expiry.secondsSinceEpoch)
            facts.decision = .keep(
                SecretInfo(fingerprint: token.fingerprint, claims: claims, signer: nil), until: expiry)
        }
        keep(until: Self.now + 3_600)
        facts.published = [(token.fingerprint, "/srv/shop/.env")]
        #expect(facts.reasonNotToAsk == nil)
        keep(until: Self.now)
        #expect(facts.reasonNotToAsk != nil)
    }
}
