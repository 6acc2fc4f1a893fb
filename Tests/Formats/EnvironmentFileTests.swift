import TestSupport
import Testing

@testable import Formats

@Suite struct EnvironmentFileTests {
    private func edited(_ text: String, _ values: [String: String] = ["SECRET": "new"]) throws -> String {
        var file = try EnvironmentFile(Array(text.utf8))
        try file.set(values.mapValues { Array($0.utf8) })
        return String(decoding: file.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("", "SECRET=new\n"),
        ("A=1\n", "A=1\nSECRET=new\n"),
        ("A=1", "A=1\nSECRET=new\n"),
        ("A=1\r\nB=2", "A=1\r\nB=2\r\nSECRET=new\r\n"),
        ("A=1\r\nSECRET=old\r\nB=2\r\n", "A=1\r\nSECRET=new\r\nB=2\r\n"),
        ("SECRET=old", "SECRET=new"),
        ("SECRET=\n", "SECRET=new\n"),
        ("# SECRET=a\n;SECRET=b\nSECRET=c\n", "# SECRET=a\n;SECRET=b\nSECRET=new\n"),
        ("SECRET=a\nA=1\nexport SECRET='b'\nSECRET=\"c\"\n", "SECRET=new\nA=1\nexport SECRET=new\nSECRET=new\n"),
        ("\t export \t SECRET=old\n", "\t export \t SECRET=new\n"),
        ("SECRET = old  \n", "SECRET=new\n"),
        ("SECRET='a\nSECRET=b\nA=1'\nB=2\n", "SECRET=new\nB=2\n"),
        ("A='x\nSECRET=hidden\n'\n", "A='x\nSECRET=hidden\n'\nSECRET=new\n"),
        ("A=\"x\\\"\nSECRET=hidden\"\n", "A=\"x\\\"\nSECRET=hidden\"\nSECRET=new\n"),
        ("SECRET=a \\\n  b\nB=2\n", "SECRET=new\nB=2\n"),
        ("  SECRET=old # of May\nB=2\n", "  # of May\n  SECRET=new\nB=2\n"),
        ("SECRET='old' # of May", "# of May\nSECRET=new"),
        ("SECRET=old#1\n", "SECRET=new\n"),
        ("MY_SECRET=a\nSECRET_B=b\nsecret=c\n", "MY_SECRET=a\nSECRET_B=b\nsecret=c\nSECRET=new\n"),
        ("\u{feff}SECRET=old\nA=1\n", "\u{feff}SECRET=new\nA=1\nSECRET=new\n"),
        ("\u{feff}", "\u{feff}\nSECRET=new\n"),
        ("\u{feff}# a note\nSECRET=old\n", "\u{feff}# a note\nSECRET=new\n"),
        ("A=it's\nSECRET=old\n", "A=it's\nSECRET=new\n"),
    ])
    func setsTheVariableAndKeepsEveryOtherByte(before: String, after: String) throws {
        #expect(try edited(before) == after)
        #expect(try edited(after) == after, "a second time nothing changes")
    }

    @Test func keepsBytesThatAreNoText() throws {
        var file = try EnvironmentFile([65, 61, 0xFF, 0xFE, 10])
        try file.set(["B": [120]])
        #expect(file.bytes == [65, 61, 0xFF, 0xFE, 10, 66, 61, 120, 10])
    }

    @Test func noiseIsEditedOrRefusedAndASecondTimeNothingChanges() throws {
        var random = SeededGenerator()
        for _ in 0..<3000 {
            let sample = EnvironmentSample(style: .noise, using: &random)
            guard var file = try? EnvironmentFile(sample.bytes), (try? file.set(["SECRET": [120]])) != nil else {
                continue
            }
            #expect(try file.value(of: "SECRET") == .one([120]), "seed \(random.seed)")
            let once = file.bytes
            try file.set(["SECRET": [120]])
            #expect(file.bytes == once, "seed \(random.seed)")
        }
    }

    @Test func setsSeveralVariablesAtOnce() throws {
        #expect(try edited("B=old\n", ["C": "3", "A": "1", "B": "2"]) == "B=2\nA=1\nC=3\n")
        #expect(try edited("B=old # note\nA='x\ny'\n", ["A": "1", "B": "2"]) == "# note\nB=2\nA=1\n")
        // The backslash would make an added line doubtful; it goes with the old value, whichever name comes first.
        #expect(try edited("B=\\\n", ["A": "1", "B": "2"]) == "B=2\nA=1\n")
        #expect(try edited("B=\\\n", ["C": "1", "B": "2"]) == "B=2\nC=1\n")
    }

    @Test(arguments: [
        ("A=1\nB='x\nSECRET=old\n", 2, "the quote that begins there is never closed"),
        ("A=1\nSECRET=\"old\n", 2, "the quote that begins there is never closed"),
        // systemd takes the backslash for the variable's name.
        ("A=1\n\\='x", 2, "the quote that begins there is never closed"),
        ("A=1\nB=\u{0}\n", 2, "it holds a NUL byte"),
        ("SECRET=old; export SECRET\n", 1, "a shell would run a command there, and that is not overwritten"),
        ("SECRET=$(cat secret)\n", 1, "a shell would run a command there, and that is not overwritten"),
        ("SECRET=\"`id`\"\n", 1, "a shell would run a command there, and that is not overwritten"),
        (
            "SECRET=old<<END\n# mine\n", 1,
            "where the value of SECRET ends depends on the program that reads it: it has a here-document"
        ),
        ("SECRET=old OTHER=x\n", 1, "a shell would set a second variable there, and that is not overwritten"),
        (
            "A=it's\nSECRET=old\nB=it's\n", 2,
            "whether it sets SECRET depends on the program that reads it: "
                + "line 1 has a quote that only some readers close on another line"
        ),
        (
            "cat <<END\nSECRET=old\nEND\n", 2,
            "whether it sets SECRET depends on the program that reads it: "
                + "line 1 has a here-document"
        ),
        (
            "true &&\nSECRET=old\n", 2,
            "whether it sets SECRET depends on the program that reads it: "
                + "line 1 has a shell's operator at its end"
        ),
        (
            "# C:\\\nSECRET=old\n", 2,
            "whether it sets SECRET depends on the program that reads it: "
                + "line 1 has a backslash at its end"
        ),
        (
            "A='x\\'\nSECRET=old\nB='y'\n", 2,
            "whether it sets SECRET depends on the program that reads it: "
                + "line 1 has a quote that only some readers close on another line"
        ),
        (
            "SECRET=a\rB=2\n", 1,
            "where the value of SECRET ends depends on the program that reads it: "
                + "it has a control character that ends a line for some readers"
        ),
        (
            "SECRET=a\r# mine\r", 1,
            "where the value of SECRET ends depends on the program that reads it: "
                + "it has a control character that ends a line for some readers"
        ),
        (
            "A=1\nSECRET=a\rB\n", 2,
            "where the value of SECRET ends depends on the program that reads it: "
                + "it has a control character that ends a line for some readers"
        ),
        (
            "SECRET=a \\\nB=2\n", 1,
            "where the value of SECRET ends depends on the program that reads it: "
                + "it has a backslash at its end"
        ),
        (String(repeating: "SECRET=x\n", count: 101), 101, "SECRET is set more than 100 times in this file"),
        (
            "SECRET=old\nexport A=1 SECRET=old\n", 2,
            "a shell sets SECRET there behind something else, and that is not edited"
        ),
        ("SECRET=old\nA=1;SECRET=old\n", 2, "a shell sets SECRET there behind something else, and that is not edited"),
        (
            "A=1\n# C:\\", 2,
            "what stands behind it depends on the program that reads it, so that SECRET cannot be added: "
                + "it has a backslash at its end"
        ),
    ])
    func refusesWhatReadersTakeDifferently(text: String, line: Int, reason: String) throws {
        #expect(throws: FormatFlaw(line: line, reason: reason)) { try edited(text) }
    }

    @Test(arguments: [
        ("", EnvironmentFile.Value.absent),
        ("A=1\n#SECRET=x\n", .absent),
        ("SECRET=x\n", .one(Array("x".utf8))),
        ("export SECRET = 'x' \r\nSECRET=\"x\"", .one(Array("x".utf8))),
        ("SECRET=\n", .one([])),
        ("SECRET=x # note\n", .one(Array("x # note".utf8))),
        ("SECRET=x\nSECRET=y\n", .differing),
        ("\u{feff}SECRET=x\n", .differing),
    ])
    func readsTheValueOfTheVariable(text: String, value: EnvironmentFile.Value) throws {
        #expect(try EnvironmentFile(Array(text.utf8)).value(of: "SECRET") == value)
    }

    /// Each of these takes minutes where the time grows with the square of the size.
    @Test(arguments: [
        "A=(\n", "A=x'\n", "\"\"", "`", "A=x \\\n", "A=a;", "SECRET  ",
    ])
    func aMebibyteOfSyntaxIsReadOrRefused(piece: String) throws {
        let bytes = Array(String(repeating: piece, count: (1 << 20) / piece.utf8.count).utf8)
        guard let value = try? EnvironmentFile(Array("SECRET=x\n".utf8) + bytes).value(of: "SECRET") else { return }
        #expect(value == .one([120]))
    }

    @Test(arguments: [
        ("", false), ("SECRET=x\n", false), ("\n\n SECRET='x\ny'\n\n", false), ("\u{feff}SECRET=x", false),
        ("SECRET=x\n# mine\n", true), ("A=1\n", true), ("SECRET=x\nSECRET_TWO=y\n", true),
    ])
    func noticesOtherLines(text: String, more: Bool) throws {
        #expect(try EnvironmentFile(Array(text.utf8)).holdsOtherLines(than: ["SECRET"]) == more)
    }
}
