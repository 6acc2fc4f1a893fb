import Testing

@testable import Failures

/// A command is shown byte for byte, or named by what prints it.
@Suite struct CommandMessageTests {
    private static let fits: @Sendable (String) -> Bool = { !$0.contains("|") }
    private static let check = "run clientsecretd check as root"

    @Test(
        arguments: [
            ("it failed; renew it: a b", "a b", 100, "it failed; renew it: a b"),
            // One that the place would change, or that does not fit.
            ("it failed; renew it: a | b", "a | b", 100, "it failed; renew it; \(check)"),
            (
                "it failed; renew it: a b c d e f g h i j k l m", "a b c d e f g h i j k l m", 45,
                "it failed...; \(check)"
            ),
            ("it failed; a | b", "a | b", 100, "it failed; \(check)"), ("a | b", "a | b", 100, check),
            // All words.
            ("it failed | badly", nil, 100, "it failed | badly"), ("it failed badly", nil, 10, "it fail..."),
            // A text that does not end with it is all words.
            ("it failed", "a | b", 100, "it failed"),
        ] as [(String, String?, Int, String)])
    func aCommandIsWholeOrLeftOut(text: String, command: String?, limit: Int, shown: String) {
        #expect(CommandMessage(text, command: command).text(atMost: limit, keeping: Self.fits) == shown)
    }

    @Test func onlyTheWordsAreRewritten() {
        let message = CommandMessage("at 1; run: touch 1", command: "touch 1").rewritten {
            $0.replacing("1", with: "one")
        }
        #expect(message.text(atMost: 100, keeping: Self.fits) == "at one; run: touch 1")
    }

    @Test func aReportOfTheDaemonKeepsItsCommand() {
        for remedy in [
            Remedy.say("load it", run: .reload), .say("look", see: .kernelLog), .run(.reload, otherwise: ""),
        ] {
            #expect(Remedy.reported(remedy.description, command: remedy.command) == remedy)
        }
        #expect(Remedy.reported("load it", command: "rm x") == .say("load it"))
    }
}
