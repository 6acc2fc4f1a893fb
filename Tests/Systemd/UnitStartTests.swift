import Testing

@testable import Systemd

/// Which units a reboot would end.
struct UnitStartTests {
    @Test(
        arguments: [
            ("enabled", [:], false), ("disabled", [:], true), ("enabled-runtime", [:], true), ("static", [:], false),
            ("masked", [:], false), ("linked", [:], false), ("generated", [:], false), ("transient", [:], false),
            ("", [:], false), ("disabled", ["app.service": "enabled"], false),
            ("disabled", ["app.service": "disabled"], true), ("disabled", ["multi-user.target": "static"], false),
            ("disabled", ["app.target": "disabled"], true),
            // A writer requires its own socket, which starts it.
            ("disabled", ["clientsecretd-writer@app.service": "static"], true),
            ("disabled", ["clientsecretd-once.timer": "enabled"], false),
            ("disabled", ["clientsecretd-once.timer": "disabled"], true),
        ] as [(String, [String: String], Bool)])
    func aUnitIsStartedByItselfOrByAnother(enablement: String, starters: [String: String], isOnlyByHand: Bool) {
        #expect(UnitStart(enablement: enablement, starters: starters).isOnlyByHand == isOnlyByHand)
    }
}
