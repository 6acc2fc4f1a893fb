import Testing

@testable import clientsecretd

@Suite struct TerminalTests {
    private static let utf8 = ["LANG": "en_GB.UTF-8", "TERM": "xterm-256color"]

    @Test func aPipeHasNoWidthAndNoColour() {
        let pipe = Terminal(size: nil, environment: Self.utf8)
        #expect(pipe.columns == nil)
        #expect(!pipe.isInteractive && !pipe.redraws)
        #expect(pipe.line([Piece("bad", .red)]) == "bad")
    }

    @Test func aTerminalHasColour() {
        let terminal = Terminal(size: (100, 40), environment: Self.utf8)
        #expect(terminal.columns == 100)
        #expect(terminal.isInteractive)
        #expect(terminal.line([Piece("bad", .red), Piece(" day")]) == "\u{1B}[31mbad\u{1B}[0m day")
    }

    /// And a dumb one is not drawn over.
    @Test(
        arguments: [
            (["NO_COLOR": "1"], false, true), (["NO_COLOR": "0"], false, true), (["NO_COLOR": ""], true, true),
            (["TERM": "dumb"], false, false),
        ] as [([String: String], Bool, Bool)])
    func colourCanBeRefused(environment: [String: String], colour: Bool, redraws: Bool) {
        let terminal = Terminal(size: (80, 24), environment: Self.utf8.merging(environment) { _, new in new })
        #expect(terminal.line([Piece("bad", .red)]) == (colour ? "\u{1B}[31mbad\u{1B}[0m" : "bad"))
        #expect(terminal.redraws == redraws)
    }

    @Test func aTerminalThatDoesNotSayItsSizeHasAVT100s() {
        let terminal = Terminal(size: (0, 0), environment: [:])
        #expect(terminal.columns == 80)
        #expect(terminal.rows == 24)
    }

    @Test(arguments: [
        (["LANG": "C.UTF-8"], true), (["LANG": "de_DE.utf8"], true), (["LANG": "C"], false), ([:], false),
        (["LC_ALL": "C", "LANG": "C.UTF-8"], false), (["LC_ALL": "", "LANG": "C.UTF-8"], true),
        (["LC_CTYPE": "C.UTF-8", "LANG": "C"], true), (["LANG": "de_DE.ISO-8859-1"], false),
    ])
    func theLocaleDecidesOnCharacters(environment: [String: String], unicode: Bool) {
        #expect(Terminal(size: nil, environment: environment).unicode == unicode)
    }

    @Test func nothingThatATerminalWouldActOnReachesIt() {
        let hostile = "a\u{1B}[2Jb\u{07}c\u{9B}d\ne\u{7F}"
        #expect(Terminal(size: nil, environment: Self.utf8).line([Piece(hostile)]) == "a?[2Jb?c?d?e?")
    }

    /// U+202E turns the direction of what follows, U+200B is not seen at all, U+2028 begins a line.
    @Test(arguments: ["\u{202E}", "\u{2066}", "\u{200B}", "\u{2028}", "\u{FEFF}", "\u{85}"])
    func nothingThatDisguisesTextReachesIt(character: String) {
        #expect(Terminal(size: nil, environment: Self.utf8).shown("a" + character + "b") == "a?b")
    }

    @Test func aCharacterThatALocaleLacksIsAQuestionMark() {
        #expect(Terminal(size: nil, environment: [:]).shown("/srv/größe") == "/srv/gr??e")
        #expect(Terminal(size: nil, environment: Self.utf8).shown("/srv/größe") == "/srv/größe")
    }
}
