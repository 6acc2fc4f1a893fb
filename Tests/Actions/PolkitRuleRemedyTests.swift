import Failures
import Testing

@testable import Actions

struct PolkitRuleRemedyTests {
    /// It would not apply if it were there twice.
    @Test func aRuleThatIsThereIsNotAddedAgain() async {
        await #expect(processExitsWith: .success) {
            let file = "/etc/polkit-1/rules.d/50-a.rules"
            #expect(Remedy.addingPolkitRule("a();", to: file).command?.contains("'a();' >>\(file)") == true)
            var context = CommandContext.current
            context.addedLines = [file: ["a();"]]
            context.use()
            let remedy = Remedy.addingPolkitRule("a();", to: file)
            #expect(remedy.command == nil)
            #expect(remedy.description.hasPrefix("\(file) has the rule, and it does not apply: "))
            #expect(remedy.description.hasSuffix(" (journalctl -u polkit)"))
            #expect(Remedy.addingPolkitRule("b();", to: file).command != nil)
        }
    }
}
