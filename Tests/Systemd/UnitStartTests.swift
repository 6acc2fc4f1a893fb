import Testing

@testable import Systemd

/// Which units a reboot would end.
struct UnitStartTests {
    @Test(
        arguments: [
            ("enabled", [:], nil), ("disabled", [:], .notEnabled), ("static", [:], nil), ("indirect", [:], nil),
            ("generated", [:], nil), ("transient", [:], nil), ("alias", [:], nil), ("", [:], nil),
            ("linked", [:], .notEnabled), ("linked-runtime", [:], .linkedUntilBoot), ("bad", [:], .unusable),
            ("enabled-runtime", [:], .notEnabled), ("masked", [:], .masked(endsWithBoot: false)),
            ("masked-runtime", [:], .masked(endsWithBoot: true)),
            // What another unit starts.
            ("disabled", ["app.service": "enabled"], nil), ("linked", ["app.service": "enabled"], nil),
            ("disabled", ["app.service": "disabled"], .notEnabled), ("disabled", ["multi-user.target": "static"], nil),
            ("disabled", ["app.target": "disabled"], .notEnabled), ("disabled", ["app.target": "masked"], .notEnabled),
            ("disabled", ["app.target": "enabled-runtime"], .notEnabled),
            ("enabled-runtime", ["app.service": "enabled"], nil),
            // Which are the link that ends with the boot, and those that are there in vain.
            ("enabled-runtime", ["multi-user.target": "static"], .notEnabled),
            ("masked", ["multi-user.target": "static"], .masked(endsWithBoot: false)),
            ("linked-runtime", ["app.service": "enabled"], .linkedUntilBoot),
            ("bad", ["multi-user.target": "static"], .unusable),
            // A writer requires its own socket, which starts it.
            ("disabled", ["clientsecretd-writer@app.service": "static"], .notEnabled),
        ] as [(String, [String: String], UnitStart.Obstacle?)])
    func aUnitIsStartedByItselfOrByAnother(
        enablement: String, starters: [String: String], obstacle: UnitStart.Obstacle?
    ) {
        #expect(UnitStart(enablement: enablement, starters: starters).obstacle == obstacle)
    }

    /// systemd knows how it has loaded a unit, also if it was masked or removed without its file state having changed.
    @Test(
        arguments: [
            ("masked", .masked(endsWithBoot: false)), ("not-found", .unusable), ("bad-setting", .unusable),
            ("error", .unusable), ("loaded", nil),
        ] as [(String, UnitStart.Obstacle?)])
    func anEnabledUnitIsNotStartedIfItCannotBeLoaded(load: String, obstacle: UnitStart.Obstacle?) {
        #expect(UnitStart(load: load, enablement: "enabled").obstacle == obstacle)
    }

    /// The service is masked where the timer runs single runs.
    @Test(arguments: ["disabled", "enabled-runtime", "masked", "masked-runtime", "bad"])
    func aUnitIsNotMissedIfAnotherDoesItsWork(enablement: String) {
        func obstacle(timer: String?) -> UnitStart.Obstacle? {
            UnitStart(enablement: enablement, substitute: timer).obstacle
        }
        #expect(obstacle(timer: "enabled") == nil)
        for timer in ["disabled", "masked", nil] { #expect(obstacle(timer: timer) != nil) }
    }
}
