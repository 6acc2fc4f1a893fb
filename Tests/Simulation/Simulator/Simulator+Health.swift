import AppleClientSecret
import Failures
import Model
import Rotation

/// Health, compared with what the disk and the applications show.
extension Simulator {
    /// The daemon's snapshot, or what was planted instead.
    func shown(_ snapshot: Snapshot) -> Snapshot {
        guard sabotage != nil else { return snapshot }
        var snapshot = snapshot
        if sabotage == .hidesRefusals { snapshot.configuration.error = nil }
        if sabotage == .isNeverReady { snapshot.ready = false }
        snapshot.clients = snapshot.clients.map(shown)
        return snapshot
    }

    func shown(_ view: ClientView) -> ClientView {
        guard sabotage == .claimsAllIsWell else { return view }
        var view = view
        view.health = .ok
        view.reason = nil
        return view
    }

    func checkHealth(_ snapshot: Snapshot) throws {
        guard snapshot.reason == nil || snapshot.health != .ok, snapshot.reason != nil || snapshot.health == .ok
        else { throw Violation(.health, "the whole is \(snapshot.health), with another reason") }
        let isPossible = now.wall.secondsSinceEpoch >= Self.builtAt
        guard isPossible || !snapshot.clockTrusted, !isPossible || !isSynced || snapshot.clockTrusted else {
            throw Violation(.health, "the clock is \(snapshot.clockTrusted ? "" : "not ")trusted")
        }
        guard (snapshot.configuration.error != nil) == watch.isRefused else {
            throw Violation(.health, "the configuration was \(watch.isRefused ? "" : "not ")refused, which is not said")
        }
        if watch.isRefused || !snapshot.clockTrusted, snapshot.health == .ok {
            throw Violation(.health, "the whole is ok although it is not")
        }
        if let worst = snapshot.clients.map(\.health).max(), sabotage == nil, snapshot.health < worst {
            throw Violation(.health, "the whole is \(snapshot.health), a client \(worst)")
        }
        for view in snapshot.clients where view.health == .ok {
            if let output = view.outputs.first(where: { $0.state != .ok }) {
                throw Violation(.health, "\(view.name) is ok, and \(output.place) is \(output.state.rawValue)")
            }
        }
        // Jobs that are under way may be evaluated in different ways.
        guard rotation.runningJobs == stuck.count, agenda.isEmpty else { return }
        for view in snapshot.clients where watch.quiet(view.name, at: boot) > 20_000 { try checkHealth(view) }
    }

    private func checkHealth(_ view: ClientView) throws {
        let rotation = rotation
        guard let entry = rotation.configuration.clients[view.name],
            rotation.wasRecalled(view.name)
        else { return }
        if let verification = view.verification, verification.verdict == .refused {
            guard outside.apple.everRefused.contains(verification.fingerprint) else {
                throw Violation(.health, "\(view.name)'s new secret is said to be refused, which Apple never did")
            }
            let isInForce = verification.fingerprint == view.current?.fingerprint
            if isInForce ? view.health != .critical : view.health == .ok {
                throw Violation(.health, "\(view.name) is \(view.health) although Apple refuses its new secret")
            }
        }
        if (view.health == .ok) != (view.reason == nil) {
            throw Violation(.health, "\(view.name) is \(view.health), with another reason")
        }
        let isHanging = entry.outputs.contains { outside.broken.hanging.contains($0.path) }
        for (output, shown) in zip(entry.outputs, view.outputs) {
            let isHung = watch.isHung(output.path, since: boot - 30_000)
            if isHung != (shown.state == .notResponding) {
                throw Violation(.health, "\(output.path) is \(shown.state.rawValue)")
            }
            let isGood =
                outside.files[output.path]?.isAsConfigured == true && view.current != nil
                && outside.secret(in: output)?.fingerprint == view.current?.fingerprint
            if shown.state == .ok, !isGood, !isHanging {
                throw Violation(.health, "\(output.path) is called ok and is not")
            }
            if view.health == .ok, !isGood {
                throw Violation(.health, "\(view.name) is ok and \(output.path) is not")
            }
        }
        try checkTargets(view, entry)
        for shown in view.actions {
            let reader = Outside.Reader(client: view.name, action: shown.action)
            let isTold = watch.known[reader] != nil && watch.known[reader]?.fingerprint == view.current?.fingerprint
            // An action that was run for the secret may run once more, as after a repair.
            if shown.state == .ok, !isTold {
                throw Violation(.health, "\(shown.action) is \(shown.state) for \(view.name)")
            }
            if shown.state == .ok, outside.held[reader]?.fingerprint != view.current?.fingerprint {
                throw Violation(
                    .health, "\(shown.action) is called done for \(view.name), whose application holds another")
            }
        }
        try checkHealth(view, entry, isHanging: isHanging)
    }

    /// What a target is said to hold is there, unless another program has written there since it was read.
    private func checkTargets(_ view: ClientView, _ entry: ClientConfiguration) throws {
        for output in entry.targets {
            guard let shown = view.outputs.first(where: { $0.target == output.target }) else {
                throw Violation(.health, "\(output.target) is not shown")
            }
            if !Api.shows(output.target), shown.verified != nil {
                throw Violation(.health, "\(output.target) is said to be verified, which nobody can know")
            }
            let isGood = view.current.map { outside.api.holds($0, at: output) } ?? false
            guard !isGood, outside.api.places[output.place]?.isDamaged != true else { continue }
            // What the API shows may be older than what it took, but for no longer than five minutes.
            if shown.verified != true, watch.targets.awaited.contains(output.target),
                !watch.targets.refuted.contains(output.target)
            {
                continue
            }
            if shown.state == .ok { throw Violation(.health, "\(output.target) is called ok and is not") }
            if view.health == .ok { throw Violation(.health, "\(view.name) is ok and \(output.target) is not") }
        }
    }

    private func checkHealth(_ view: ClientView, _ entry: ClientConfiguration, isHanging: Bool) throws {
        guard !isHanging else {
            if view.health == .ok, entry.outputs.contains(where: { watch.isHung($0.path, since: boot - 30_000) }) {
                throw Violation(.health, "\(view.name) is ok although a file does not respond")
            }
            return
        }
        let readers = entry.onChange.map { Outside.Reader(client: view.name, action: $0.id) }
        let told = watch.told(view.name, entry)
        let isBlank = watch.blank.contains(view.name)
        let held = readers.filter { watch.known[$0] != nil }.compactMap { outside.heldKnowingly($0) }
        let files = entry.outputs.map { published(outside.secret(in: $0), entry) }
        let rotation = rotation
        // A write that failed may have put the secret there: until the file is read back, it counts as holding what it held before.
        let unread = entry.outputs.filter { watch.uncertain.contains($0.path) }
            .map { rotation.observation(of: $0.path)?.slots[$0.slot]?.secret }
        let filesPerhaps = files + unread.map { published($0, entry) }
        func isCritical(_ files: [SecretInfo?], _ applications: [SecretInfo]) -> Bool {
            files.contains(nil)
                || (files.compactMap { $0 } + applications).contains { entry.criticalFrom($0) <= now.wall }
        }
        // By a clock that may be ahead nobody is alarmed.
        let isSpared = mayClockBeAhead && view.reason?.failure.code == .clockPerhapsAhead
        // A client that shares a file waits for 30 s for another file of the client that it shares it with.
        let isDelayed = rotation.configuration.clients.values.contains { other in
            other.outputs.contains { output in entry.outputs.contains { $0.path == output.path } }
                && other.outputs.contains {
                    outside.broken.hanging.contains($0.path) && !watch.isHung($0.path, since: boot - 30_000)
                }
        }
        if isCritical(files, held + watch.targets.unchanged(entry)), view.health != .critical, !isSpared, !isDelayed {
            throw Violation(
                .health,
                "\(view.name) is \(view.health), but its applications' time is running out")
        }
        let newest = verdicts.newest[view.name]
        let isRefused =
            newest.map { $0 == view.current && verdicts.isRefused($0) } ?? false
            // Its successor is no better before it is accepted.
            || verdicts.replacesRefused.contains(view.name)
        // By its times Apple refuses what an application holds. By a clock that is not trusted nobody can tell.
        if view.health == .ok, rotation.clockFailure == nil, held.contains(where: areTimesRefused) {
            throw Violation(.health, "\(view.name) is ok, and Apple refuses what its application holds")
        }
        let elsewhere = watch.everDelivered(to: view.name) + watch.targets.known(entry)
        let isRefusedElsewhere = elsewhere.contains { mayBeRefused($0, entry) }
        // Issued in the future, after a clock was set back: Apple refuses it, whatever its life.
        let isOfTheFuture = filesPerhaps.contains { $0.map { $0.issuedAt > now.wall + 60 } ?? false }
        // It states other ids than those under which its key is configured: by what that says, Apple refuses it.
        let isMisnamed = (entry.outputs.map(outside.secret) + unread).compactMap { $0 }.contains { secret in
            !outside.configuration.keys.contains { name, key in
                key.team == secret.team && key.keyID == secret.keyID
                    && rotation.digest(of: name) == outside.signer(of: secret)
            }
        }
        if view.health == .critical, !isBlank, !isRefused, !isOfTheFuture, !isMisnamed, !isRefusedElsewhere,
            !isCritical(filesPerhaps, told.compactMap { $0 } + watch.targets.known(entry))
        {
            throw Violation(.health, "\(view.name) is critical without a reason")
        }
        // What an API holds counts whether or not an action has run.
        let all = told + entry.targets.map { watch.targets.known[$0] }
        let expiry = all.contains(nil) ? nil : all.compactMap { $0?.expiresAt }.min()
        let isVague = view.deliveredExpiresAt == nil && watch.targets.isVague(entry)
        if !readers.isEmpty, !isBlank, !isVague, view.deliveredExpiresAt != expiry {
            throw Violation(
                .health, "\(view.name)'s applications hold a secret until \(expiry.map(String.init) ?? "?")")
        }
    }

    /// Whether Apple refuses a secret's times, apart from its expiry.
    private func areTimesRefused(_ secret: SecretInfo) -> Bool {
        secret.issuedAt > now.wall + 60 || secret.livesTooLong(at: now.wall)
    }

    /// Whether Apple may refuse a secret that a client's application or an API holds, apart from its expiry: by its times, or by
    /// the ids that are configured now.
    func mayBeRefused(_ secret: SecretInfo, _ entry: ClientConfiguration) -> Bool {
        guard let signer = outside.signer(of: secret) else { return true }
        let rotation = rotation
        let names = outside.configuration.keys.filter { rotation.digest(of: $0.key) == signer }.values
        let isMisnamed = !names.isEmpty && !names.contains { $0.team == secret.team && $0.keyID == secret.keyID }
        return isMisnamed || secret.client != entry.clientID || areTimesRefused(secret)
    }

    /// A secret in an output that an application could take for its own; nil for one known to be forged.
    private func published(_ issued: SecretInfo?, _ entry: ClientConfiguration) -> SecretInfo? {
        guard let issued, issued.client == entry.clientID else { return nil }
        let isForged = rotation.digest(of: entry.key) != nil && outside.signer(of: issued) == nil
        return isForged ? nil : issued
    }
}
