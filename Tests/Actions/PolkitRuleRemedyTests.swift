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
            #expect(
                Remedy.installingPolkit(withRule: "a();", in: file).description
                    == "apt-get install polkitd, which then reads the rule that \(file) has")
            let remedy = Remedy.addingPolkitRule("a();", to: file)
            #expect(remedy.command == nil)
            #expect(remedy.description.hasPrefix("\(file) has the rule, and it does not apply: "))
            #expect(remedy.description.hasSuffix(" (journalctl -u polkit)"))
            #expect(Remedy.addingPolkitRule("b();", to: file).command != nil)
            #expect(Remedy.addingPolkitRule("b();", to: file).words == "add a polkit rule")
            #expect(
                Remedy.installingPolkit(withRule: "b();", in: file).description
                    == "apt-get install polkitd, then write into \(file): b();")
        }
    }

    /// The daemon may not read the file, so what it says has to be right with the rule and without it.
    @Test func whereTheFileIsUnknownBothCasesAreNamed() async {
        await #expect(processExitsWith: .success) {
            let file = "/etc/polkit-1/rules.d/50-a.rules"
            let remedy = Remedy.addingPolkitRule("a();", to: file)
            #expect(
                remedy.words
                    == "if \(file) has the rule already, see why it does not apply (journalctl -u polkit); else add it")
            #expect(remedy.command?.contains("'a();' >>\(file)") == true)
            #expect(
                Remedy.installingPolkit(withRule: "a();", in: file).description
                    == "apt-get install polkitd, then write into \(file), unless it is there already: a();")
        }
    }
}
