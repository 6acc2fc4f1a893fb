import TestSupport
import Testing

@testable import Formats

@Suite struct EnvironmentFileTests {
    private func edited(_ text: String, _ values: [String: String] = ["SECRET": "new"]) throws -> String {
        var file = try EnvironmentFile(Array(text.utf8))
        try file.set(values.mapValues { Array($0.utf8) })
        return String(decoding: file.bytes, as: UTF8.self)
    }

    /// Each time a pipe came, all before it were given longer names: a line with thousands took minutes and gigabytes.
    @Test func aPipelineIsOneEntry() {
        let pipeline = Array(("A=" + String(repeating: "|A=", count: 5) + "\n").utf8)
        let names = EnvironmentReader.bash.entries(in: pipeline)?.map(\.name)
        #expect(names == [Array("()".utf8)])
    }

    /// Each command in them was compared with all of them.
    @Test func aFileOfNothingButBracesIsNotFollowed() {
        let many = EnvironmentReader.bash.entries(in: Array(String(repeating: "{\n", count: 60).utf8))
        #expect(many?.map(\.name) == [ShellReader.unclear])
        let few = String(repeating: "{\n", count: 20) + "A=1\n" + String(repeating: "}\n", count: 20)
        #expect(EnvironmentReader.bash.entries(in: Array(few.utf8))?.count == 1)
    }

    @Test(arguments: [
        ("", "SECRET=new\n"),
        ("A=1\n", "A=1\nSECRET=new\n"),
        ("A=1", "A=1\nSECRET=new\n"),
        // With a line break behind it, a shell would read "2\\r" for B.
        ("A=1\r\nB=2", "A=1\r\nSECRET=new\r\nB=2"),
        ("A=1\r\nSECRET=old\r\nB=2\r\n", "A=1\r\nSECRET=new\r\nB=2\r\n"),
        ("SECRET=old", "SECRET=new"),
        ("SECRET=\n", "SECRET=new\n"),
        ("# SECRET=a\n;SECRET=b\nSECRET=c\n", "# SECRET=a\n;SECRET=b\nSECRET=new\n"),
        // For Node 20, a last line without an equals sign is the beginning of the next name.
        ("A=1\nHTTP_PROXY\n", "SECRET=new\nA=1\nHTTP_PROXY\n"),
        ("A=1\n// a note\n\n", "SECRET=new\nA=1\n// a note\n\n"),
        ("HTTP_PROXY\nA=1\n# a note\n\n", "HTTP_PROXY\nA=1\n# a note\n\nSECRET=new\n"),
        // Behind these, no program that the shell starts next would have it.
        ("set -a\nA=1\nset +a\n", "set -a\nA=1\nSECRET=new\nset +a\n"),
        ("set -o allexport\nA=1\nset +o allexport\n", "set -o allexport\nA=1\nSECRET=new\nset +o allexport\n"),
        ("export A=1\n# B\nexport C=\"2\"\n", "export A=1\n# B\nexport C=\"2\"\nexport SECRET=new\n"),
        ("export A=$(id -u)\n", "export A=$(id -u)\nexport SECRET=new\n"),
        ("export A=1\nB=2\n", "export A=1\nB=2\nSECRET=new\n"),
        // A quoted word of `export` assigns too, and what ends within a line leaves no place before its end.
        ("export 'B=x'\nexport \"C=y\"\n", "export 'B=x'\nexport \"C=y\"\nexport SECRET=new\n"),
        ("set -a; A=1; set +a\n", "set -a; A=1; set +a\nexport SECRET=new\n"),
        ("set -a; A=1\n", "set -a; A=1\nSECRET=new\n"),
        // docker, which knows no `export`, is not meant by a file that exports all it assigns.
        ("A=1; export A\n", "A=1; export A\nexport SECRET=new\n"),
        ("A=1;export A;B=2;export B", "A=1;export A;B=2;export B\nexport SECRET=new\n"),
        ("A=1 && export A\n", "A=1 && export A\nexport SECRET=new\n"),
        ("A=1; export A\nB=2\n", "A=1; export A\nB=2\nSECRET=new\n"),
        ("export A=1 B=2\n", "export A=1 B=2\nexport SECRET=new\n"),
        // As bash prints what it exports.
        ("declare -x A=\"1\"\n", "declare -x A=\"1\"\nexport SECRET=new\n"),
        ("set -a\nA=1\nset +a\nSECRET=old\n", "set -a\nA=1\nset +a\nSECRET=new\n"),
        ("#!/bin/sh\nset -a\nA=1\nset +a\n", "#!/bin/sh\nset -a\nA=1\nSECRET=new\nset +a\n"),
        ("set -- -a\nA=1\n", "set -- -a\nA=1\nSECRET=new\n"),
        ("set -a\nA=1\nSECRET=old\nset +a\n", "set -a\nA=1\nSECRET=new\nset +a\n"),
        ("set -a\nA=1\nset +a\nexport SECRET=old\n", "set -a\nA=1\nset +a\nexport SECRET=new\n"),
        // No place is both exported and found by Node 20: a file that says what is exported is a shell's.
        (
            "set -a\nA=1\n[ -f b ] && . ./b\nset +a\n",
            "set -a\nA=1\n[ -f b ] && . ./b\nSECRET=new\nset +a\n"
        ),
        // At the end, a shell would not read it, or readers would not agree on it.
        ("A=1\nexit 0\nB=2\n", "SECRET=new\nA=1\nexit 0\nB=2\n"),
        ("A=1\n# C:\\", "SECRET=new\nA=1\n# C:\\"),
        ("A=1\nB='x", "SECRET=new\nA=1\nB='x"),
        ("<<`x\n", "SECRET=new\n<<`x\n"),
        // The old value is the only text that some readers of Python divide into other lines.
        ("A=1\nSECRET=à-remplir\nB=2\n", "A=1\nSECRET=new\nB=2\n"),
        ("set -eu\nA=1\n", "set -eu\nA=1\nSECRET=new\n"),
        ("SECRET=a\nA=1\nexport SECRET='b'\nSECRET=\"c\"\n", "SECRET=new\nA=1\nexport SECRET=new\nSECRET=new\n"),
        ("\t export \t SECRET=old\n", "\t export \t SECRET=new\n"),
        ("SECRET = old  \n", "SECRET=new\n"),
        ("SECRET='a\n# b\n1'\nB=2\n", "SECRET=new\nB=2\n"),
        ("A='x\nSECRET=hidden\n'\n", "A='x\nSECRET=hidden\n'\nSECRET=new\n"),
        ("A=\"x\\\\\"\nSECRET=old\n", "A=\"x\\\\\"\nSECRET=new\n"),
        ("A=ab&\nSECRET=old\n", "A=ab&\nSECRET=new\n"),
        ("A=x(y\nSECRET=old\n", "A=x(y\nSECRET=new\n"),
        (
            "A=ab{#;'cd<e}&4f\nB=G[h/2)k{'M,&N;P\"Q*r\nSECRET=old\n",
            "A=ab{#;'cd<e}&4f\nB=G[h/2)k{'M,&N;P\"Q*r\nSECRET=new\n"
        ),
        ("SECRET=<your;secret&here>\nB=2\n", "SECRET=new\nB=2\n"),
        ("SECRET=change;me&now\nB=2\n", "SECRET=new\nB=2\n"),
        ("SECRET=old\nA='x", "SECRET=new\nA='x"),
        (
            "A=-----BEGIN KEY-----\nMIGT\nab==\n-----END KEY-----\nSECRET=old\n",
            "A=-----BEGIN KEY-----\nMIGT\nab==\n-----END KEY-----\nSECRET=new\n"
        ),
        // Node 20 takes an indented comment for the beginning of the next name.
        ("A=1\n  SECRET=old # of May\nB=2\n", "A=1\n# of May\n  SECRET=new\nB=2\n"),
        ("SECRET='old' # of May", "# of May\nSECRET=new"),
        ("SECRET=\"old\"#May\n", "#May\nSECRET=new\n"),
        ("SECRET=old#1\n", "SECRET=new\n"),
        ("MY_SECRET=a\nSECRET_B=b\nsecret=c\n", "MY_SECRET=a\nSECRET_B=b\nsecret=c\nSECRET=new\n"),
        ("\u{feff}SECRET=old\nA=1\n", "\u{feff}SECRET=new\nA=1\nSECRET=new\n"),
        ("\u{feff}", "\u{feff}\nSECRET=new\n"),
        ("\u{feff}# a note\nSECRET=old\n", "\u{feff}# a note\nSECRET=new\n"),
        ("A=it's\nSECRET=old\n", "A=it's\nSECRET=new\n"),
        ("A=a\u{a0}b\u{2003}c\nSECRET=old\u{3000}\n", "A=a\u{a0}b\u{2003}c\nSECRET=new\n"),
        // Not the variable, though equal to it for Swift: the Kelvin sign, and a composed character.
        ("\u{212a}EY=x\n\u{e9}=x\ne\u{301}=x\n", "\u{212a}EY=x\n\u{e9}=x\ne\u{301}=x\nSECRET=new\n"),
        // What the shells' words do to other variables, to none, or never in this shell's file.
        ("SECRET=old\nreadonly SECRET\n", "SECRET=new\nreadonly SECRET\n"),
        ("let A=1\nSECRET=old\neval \"A=$SECRET\"\n", "let A=1\nSECRET=new\neval \"A=$SECRET\"\n"),
        ("A=please exit here\nSECRET=old\n", "A=please exit here\nSECRET=new\n"),
        ("[ -n \"$A\" ] || return\nSECRET=old\n", "[ -n \"$A\" ] || return\nSECRET=new\n"),
        ("if true; then\nA=1\nfi\n", "SECRET=new\nif true; then\nA=1\nfi\n"),
        // What a shell sets on a condition only is set again behind it.
        ("[ -n \"$A\" ] && SECRET=old\n", "[ -n \"$A\" ] && SECRET=old\nSECRET=new\n"),
        ("if true; then SECRET=old; fi\nHTTP_PROXY\n", "if true; then SECRET=old; fi\nHTTP_PROXY\nSECRET=new\n"),
        (
            "case $A in\n# a note\n(a|'b c') SECRET=old ;;\n*) B=2\nesac\nSECRET=old\n",
            "case $A in\n# a note\n(a|'b c') SECRET=old ;;\n*) B=2\nesac\nSECRET=new\n"
        ),
        // What leaves the shell's own variable as it is, or is over before the variable is set.
        ("SECRET=old\n( SECRET=b )\n", "SECRET=new\n( SECRET=b )\n"),
        ("SECRET=old\n{ SECRET=b; } | cat\n", "SECRET=new\n{ SECRET=b; } | cat\n"),
        ("SECRET=old\necho b | read SECRET\n", "SECRET=new\necho b | read SECRET\n"),
        ("SECRET=old\n{ SECRET=b; } &\n", "SECRET=new\n{ SECRET=b; } &\n"),
        ("SECRET=old\nf() { local SECRET=b; }\nf\n", "SECRET=new\nf() { local SECRET=b; }\nf\n"),
        ("SECRET=old\nf() (SECRET=b)\nf\n", "SECRET=new\nf() (SECRET=b)\nf\n"),
        ("unset SECRET\nSECRET=old\n", "unset SECRET\nSECRET=new\n"),
        ("A=${SECRET:=x}\nSECRET=old\n", "A=${SECRET:=x}\nSECRET=new\n"),
        ("A=1\nread SECRET < f\n", "A=1\nread SECRET < f\nSECRET=new\n"),
        ("SECRET=old\ncat <<E\nB=$SECRET\nE\n", "SECRET=new\ncat <<E\nB=$SECRET\nE\n"),
        ("SECRET=old\neval \"$(ssh-agent)\"\n", "SECRET=new\neval \"$(ssh-agent)\"\n"),
        // An option is the first word only.
        ("SECRET=old\nprintf x -v SECRET\n", "SECRET=new\nprintf x -v SECRET\n"),
        ("SECRET=old\nprintf '' -v\n", "SECRET=new\nprintf '' -v\n"),
        // No shell reads a file with such a line.
        ("for more see https://h/\nSECRET=old\n", "for more see https://h/\nSECRET=new\n"),
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

    @Test func setsSeveralVariablesAtOnce() throws {
        #expect(try edited("B=old\n", ["C": "3", "A": "1", "B": "2"]) == "B=2\nA=1\nC=3\n")
        #expect(try edited("B=old # note\nA='x\ny'\n", ["A": "1", "B": "2"]) == "# note\nB=2\nA=1\n")
        // The backslash would make an added line doubtful; it goes with the old value, whichever name comes first.
        #expect(try edited("B=\\\n", ["A": "1", "B": "2"]) == "B=2\nA=1\n")
        #expect(try edited("B=\\\n", ["C": "1", "B": "2"]) == "B=2\nC=1\n")
    }

    @Test(arguments: [
        // The closing quote of our own value is missing: to some readers it is the next line's.
        ("A=1\nSECRET=\"old\nURL=\"postgres://u:p@h/d\"\n", 2),
        ("SECRET='old\nB=2\n# don't\n", 1),
        ("SECRET='old\n# it's\nB=that's\n", 1),
        ("A=1\nSECRET=\"old\nB=\"\"\n", 2),
        ("SECRET=\"old\n", 1),
        ("A=1\nB='x\nSECRET=old\n", 2),
        ("A=\"x\\\"\nSECRET=hidden\"\n", 1),
        // Readers that go line by line find another variable in the value.
        ("A=1\nSECRET=\"multi\nB=3\nline\"\nC=4\n", 3),
        ("SECRET='a\n b\n\texport B = 1'\n", 3),
        ("SECRET=a \\\n  b\nB=2\n", 1),
        ("SECRET=a \\\nB=2\n", 1),
        ("A=1\nB=\u{0}\n", 2),
        // What else a shell would do there would be lost.
        ("SECRET=old; export SECRET\n", 1),
        ("SECRET=$(cat secret)\n", 1),
        ("SECRET=\"`id`\"\n", 1),
        ("SECRET=${OTHER:=x}\n", 1),
        ("SECRET=old OTHER=x\n", 1),
        ("SECRET=a;OTHER=x\n", 1),
        ("SECRET=old\nexport A=1 SECRET=old\n", 2), ("export 'SECRET=old'\n", 1),
        ("SECRET=old\nexport \"SECRET\"=old\n", 2),
        ("SECRET=old\nA=1;SECRET=old\n", 2),
        ("SECRET=old<<END\n# mine\n", 1),
        ("cat <<END\nSECRET=old\nEND\n", 1),
        ("A=it's\nSECRET=old\nB=it's\n", 1),
        ("A=x|\nSECRET=old\n", 1),
        ("A=$(x\nSECRET=old\nB=)\n", 1),
        ("true &&\nSECRET=old\n", 2),
        ("# C:\\\nSECRET=old\n", 2),
        ("A='x\\'\nSECRET=old\nB='y'\n", 2),
        ("SECRET=old\nunset SECRET\n", 2),
        // bash alone appends, and takes the first element of an array for the variable.
        ("SECRET=old\nSECRET+=more\n", 2),
        ("SECRET=old\nSECRET[0]=more\n", 2),
        ("SECRET=a\rB=2\n", 1),
        ("SECRET=a\r# mine\r", 1),
        ("A=1\nSECRET=a\rB\n", 2),
        (String(repeating: "SECRET=x\n", count: 101), 101),
        // For dash, a backtick ends a here-document like any other character; bash rejects the file.
        // For dash, the first quote after a dollar sign ends at the next; for bash not behind a backslash.
        ("A=$'a\\'\nSECRET=old\nB=$'b\\'\n", 1),
        // Blanks and line ends to Python, JavaScript or Go, to others characters.
        ("\u{a0}SECRET=old\n", 1),
        ("SECRET\u{2003}=old\n", 1),
        ("SECRET\u{c}=old\n", 1),
        ("\u{1f}SECRET=old\n", 1),
        ("A=1\n\u{feff}SECRET=old\n", 2),
        ("# mine\u{2028}SECRET=old\n", 1),
        ("A=x\u{85}SECRET=old\n", 1),
        ("A=x\u{1c}SECRET=old\n", 1),
        ("A=x\u{b}SECRET=old\n", 1),
        // To shells, no comment begins behind a byte-order mark, and a continued line joins the mark to the name.
        ("\u{feff}# it's\nSECRET=old\nB=it's\n", 2),
        ("\u{feff}\\\nSECRET=old\n", 1),
        // phpdotenv takes up to the next quote what begins in a comment.
        ("# A=\"x\nSECRET=old\nB=\"y\"\n", 2),
        // Node takes the next line for the value, and what is behind an equals sign for a line.
        ("A= \nSECRET=old\n", 1),
        ("A=1\n=SECRET=old\n", 2),
        // Words of the shells that assign the variable, or keep it from being assigned.
        ("SECRET=old\nlet SECRET=1\n", 2),
        ("SECRET=old\n((SECRET=1))\n", 2),
        ("SECRET=old\neval \"SECRET=x\"\n", 2),
        ("SECRET=old\nfor SECRET in a; do true; done\n", 2),
        ("SECRET=old\nselect SECRET in a; do true; done\n", 2),
        ("SECRET=old\nprintf -v SECRET x\n", 2),
        ("SECRET=old\nprintf -vSECRET x\n", 2),
        ("SECRET=old\nmapfile SECRET\n", 2),
        ("SECRET=old\nreadarray -t SECRET\n", 2),
        ("SECRET=old\ngetopts a SECRET\n", 2),
        ("SECRET=old\nread -r A SECRET\n", 2),
        ("SECRET=old\ndeclare -n A=SECRET\n", 2),
        ("SECRET=old\ntypeset -i SECRET\n", 2),
        ("SECRET=old\ntrap 'SECRET=x' EXIT\n", 2),
        ("readonly SECRET\nSECRET=old\n", 2),
        ("readonly SECRET=a\nSECRET=old\n", 1),
        ("\\readonly SECRET\nSECRET=old\n", 2),
        // Behind a byte-order mark, to shells that is a command like any other.
        ("\u{feff}{\nreadonly SECRET\nSECRET=old\n", 3),
        ("f() {\nSECRET=old\n}\n", 1),
        ("function f {\nSECRET=old\n}\n", 1),
        ("if true; then\nSECRET=old\nfi\n", 2),
        // A shell may set it again.
        ("SECRET=old\n[ -n \"$A\" ] && SECRET=b\n", 2),
        ("SECRET=old\nA=1\ntest -z \"$A\" || export SECRET=b\n", 3),
        ("SECRET=old\nif [ -n \"$A\" ]; then SECRET=b; fi\n", 2),
        ("SECRET=old\ncase $A in a) SECRET=b;; esac\n", 2),
        ("SECRET=old\ncase $A in\na) : ;;\nb) SECRET=b\nesac\n", 4),
        ("SECRET=old\nwhile read -r SECRET; do :; done\n", 2),
        // A shell reads a file with `case`, too.
        ("case $A in a) B=1;; esac\nA=it's\nSECRET=old\nB=it's\n", 2),
        ("return\nSECRET=old\n", 2),
        // A group may be on a condition, or not be carried out to its end.
        ("{\nSECRET=old\n}\n", 2),
        ("[ -n \"$A\" ] && {\nSECRET=old\n}\n", 2),
        ("{\nSECRET=old\n} | cat\n", 1),
        ("{\nSECRET=old\n} < f\n", 2),
        ("{\nB=$((1/0))\nSECRET=old\n}\n", 3),
        ("SECRET=old\ncommand unset SECRET\n", 2),
        ("SECRET=old\nbuiltin read SECRET\n", 2),
        ("SECRET=old\n: $((SECRET=5))\n", 2),
        ("SECRET=old\n[[ ( -n $A ) && b < c ]] && unset SECRET\n", 2),
        ("SECRET=old\ncat < <(true); read SECRET\n", 2),
        ("SECRET=old\nread SEC\\\nRET\n", 2),
        ("SECRET=old\nexport {A,SECRET}=x\n", 2),
        ("declare -i SECRET\nSECRET=old\n", 2),
        ("mapfile SECRET\nSECRET=old\n", 2),
        ("declare -n A=SECRET\nSECRET=old\nA=b\n", 1),
        ("trap 'SECRET=b' DEBUG\nSECRET=old\n", 1),
        // Where a function is called is not followed.
        ("f() { SECRET=b; }\nSECRET=old\nf\n", 1),
        ("SECRET=old\nA=1\nf() { SECRET=b; }\n", 3),
        ("export() { :; }\nexport SECRET=old\n", 2),
        // Text that another command may carry out.
        ("A='SECRET=b'\nSECRET=old\neval \"$A\"\n", 3),
        ("A='SECRET=b'\nSECRET=old\nexport \"$A\"\n", 3),
        ("A=SECRET\nSECRET=old\nunset $A\n", 3),
        ("SECRET=old\n. /dev/stdin <<E\nSECRET=b\nE\n", 2),
        ("SECRET=old ||\nB=1\n", 1),
        // A shell accepts these, and how it reads them is not told.
        ("SECRET=old\ntrue &\\\n& unset SECRET\n", 1),
        ("SECRET=old\ncoproc SECRET { :; }\n", 2),
        ("exec true\nSECRET=old\n", 2),
    ])
    func refusesWhatReadersTakeDifferently(text: String, line: Int) throws {
        let formatError = #expect(throws: FormatError.self) { try edited(text) }
        #expect(formatError?.line == line, "\(formatError?.reason ?? "")")
    }

    /// A `.p8` can be downloaded only once, and some programs take the key by a name that a client secret could have.
    @Test(arguments: [
        "SECRET=\"-----BEGIN PRIVATE KEY-----\\nMIGH\\n-----END PRIVATE KEY-----\\n\"\n",
        "SECRET='-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----'\n",
        "SECRET=LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JR0g=\n",
        "SECRET=MIGTAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBHkwdwIBAQQg\n",
    ])
    func aPrivateKeyIsNotOverwritten(line: String) throws {
        let formatError = #expect(throws: FormatError.self) { try edited("A=1\n" + line) }
        #expect(formatError?.line == 2)
        #expect(formatError?.reason == "SECRET holds a private key, which is never overwritten")
        // Another variable's is no reason.
        #expect(try edited(line + "A=1\n", ["A": "2"]) == line + "A=2\n")
    }

    private static let token =
        "eyJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL2dvb2dsZS5jb20ifQ." + String(repeating: "A", count: 86)

    /// The rest of the value would be lost.
    @Test(arguments: [
        "SECRET={\"client_id\":\"com.example.web\",\"client_secret\":\"TOKEN\",\"redirect\":\"https://x/\"}\n",
        "SECRET='{\"client_secret\":\"TOKEN\"}'\n",
        "SECRET=https://u:p@h/?s=TOKEN\n",
        "SECRET=\"Bearer TOKEN\"\n",
    ])
    func aValueThatHoldsMoreThanASecretIsNotOverwritten(line: String) throws {
        let line = line.replacing("TOKEN", with: Self.token)
        let formatError = #expect(throws: FormatError.self) { try edited("A=1\n" + line) }
        #expect(formatError?.line == 2)
        #expect(formatError?.reason == "SECRET holds more than a client secret, and an edit would remove the rest")
        // Another variable's is no reason.
        #expect(try edited(line + "A=1\n", ["A": "2"]) == line + "A=2\n")
    }

    /// Text behind a token may be damage to what was written here, such as a line added to a file without a line break at its end.
    @Test(arguments: [
        ("SECRET=\"TOKEN\"\n", "SECRET=new\n"),
        ("SECRET=\"\\nTOKEN\\n\"\n", "SECRET=new\n"),
        ("SECRET=TOKEN # com.example.web\n", "# com.example.web\nSECRET=new\n"),
        ("SECRET=TOKENA=1\n", "SECRET=new\n"),
        ("SECRET=xTOKEN\n", "SECRET=new\n"),
        ("SECRET=https://h/\n", "SECRET=new\n"),
    ])
    func aSecretWithDamageAroundItIsOverwritten(before: String, after: String) throws {
        #expect(try edited(before.replacing("TOKEN", with: Self.token)) == after)
    }

    @Test(arguments: [
        (
            "A=it's\nSECRET=old\nB=it's\n",
            "for a shell, what begins there continues past line 2, where systemd reads SECRET"
        ),
        (
            "SECRET=\"old\nURL=\"x\"\n",
            "the value of SECRET ends in line 1 for dotenv (JavaScript), in line 2 for systemd"
        ),
        ("SECRET=old; export SECRET\n", "a shell reads something else there too, which an edit would change"),
        ("SECRET=old\n[ -n \"$A\" ] && SECRET=b\n", "a shell may change SECRET again there"),
        (
            "SECRET='a\nB=1'\n",
            "this line of the value of SECRET is a variable of its own for programs that read line by line"
        ),
        (
            "SECRET=old\nB=\"x\nexport SECRET=inner\"\n",
            "this line of another value sets SECRET again for programs that read line by line"
        ),
        (
            "\u{feff}A=1\n# C:\\",
            "SECRET cannot be added: systemd reads SECRET there, and systemd before version 254 does not"
        ),
        // Node 20 reads nothing here, and C behind another variable: the blank is a name to it then.
        (" =\nC=d\n", "SECRET cannot be added: systemd reads SECRET there, and Node 20 does not"),
    ])
    func namesTheReadersThatDiffer(text: String, reason: String) throws {
        let formatError = #expect(throws: FormatError.self) { try edited(text) }
        #expect(formatError?.reason == reason)
    }

    @Test(arguments: [
        ("", EnvironmentFile.Value.absent),
        ("A=1\n#SECRET=x\n", .absent),
        ("SECRET=x\n", .one(Array("x".utf8))),
        ("export SECRET='x' \r\nSECRET = \"x\"", .one(Array("x".utf8))),
        ("SECRET=\n", .one([])),
        ("SECRET=x # note\n", .meant(Array("x".utf8))),
        ("SECRET=x\nSECRET=y\n", .differing),
        ("B=\"x\nSECRET=inner\ny\"\nSECRET=x\n", .one(Array("x".utf8))),
        ("\u{feff}SECRET=x\n", .meant(Array("x".utf8))),
    ])
    func readsTheValueOfTheVariable(text: String, value: EnvironmentFile.Value) throws {
        #expect(try EnvironmentFile(Array(text.utf8)).values(of: ["SECRET"])["SECRET"] == value)
    }

    /// Each of these takes far longer where the time grows with the square of the size.
    @Test(arguments: [
        "A=(\n", "A=x'\n", "\"\"", "`", "A=x \\\n", "A=a;", "SECRET  ",
    ])
    func muchSyntaxIsReadOrRefused(piece: String) throws {
        let bytes = Array(String(repeating: piece, count: EnvironmentFile.separatorLimit / 2 - 1).utf8)
        let value = try EnvironmentFile(Array("SECRET=x\n".utf8) + bytes).values(of: ["SECRET"])["SECRET"]
        if case .unclear = value { return }
        #expect(value == .one([120]))
    }

    /// A dozen readers keep each entry: a file of 1 MiB would take a gigabyte of memory, which the other clients need.
    @Test(arguments: ["A=\n", "A=;", "a|", "A ", "$(", "{", "a>"])
    func aFileOfTooManyWordsIsRefused(piece: String) throws {
        let text = "SECRET=x\n" + String(repeating: piece, count: 20_000)
        let formatError = #expect(throws: FormatError.self) { try edited(text) }
        #expect(formatError?.reason == "it has more than 20000 words, too many for an environment file")
    }

    @Test(arguments: [
        ("", false), ("SECRET=x\n", false), ("\n\n SECRET='x\ny'\n\n", false), ("\u{feff}SECRET=x", false),
        ("SECRET=x\n# mine\n", true), ("A=1\n", true), ("SECRET=x\nSECRET_TWO=y\n", true),
    ])
    func noticesOtherLines(text: String, more: Bool) throws {
        #expect(try EnvironmentFile(Array(text.utf8)).holdsOtherLines(than: ["SECRET"]) == more)
    }
}
